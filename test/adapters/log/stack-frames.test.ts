// Proves theft-5
import { describe, expect, it } from 'vitest';
import { framesOf, withFramesOf } from '../../../src/adapters/log/redact-error.ts';

const withStack = (stack: unknown) => Object.assign(new Error('a bug'), { stack });

describe('the frames of an error', () => {
  it('contain where it was thrown', () => {
    const frames = framesOf(new Error('a bug')).split('\n');
    expect(frames[0]).toContain('stack-frames.test.ts');
    for (const frame of frames) expect(frame).toMatch(/^ {4}at /);
  });

  it.each([
    '    at login (file:///app/src/login.ts:1:2)',
    '    at async login (file:///app/with%20blank/login.ts:10:20)',
    '    at async file:///app/src/login.ts:1:2',
    '    at file:///app/src/login.ts:1:2',
    '    at Object.<anonymous> (/app/node_modules/a/index.js:1:2)',
    '    at new Promise (<anonymous>)',
    '    at async Promise.all (index 0)',
    '    at Module.run [as runAll] (node:internal/modules/run:1:2)',
    '    at Users.#find (C:\\app\\src\\users.ts:1:2)',
  ])('are lines in the format of the engine: %s', (frame) => {
    expect(framesOf(withStack(`Error: a bug\n${frame}`))).toBe(frame);
  });

  it.each([
    ...['hunter22', 'at hunter22', '    at hunter22', '    at noon the password was hunter22'],
    ...['    at login (hunter22)', '    at login (the password is hunter22)'],
    ...['    at login (file:///app/src/login.ts:1:2) hunter22', `    at login (file:///${'a'.repeat(500)}:1:2)`],
    `    at ${'a'.repeat(500)} (file:///a.ts:1:2)`,
  ])('are not lines of a message that look similar: %.60s', (line) => {
    const error = new Error(`insert into\n${line}\n`);
    expect(framesOf(error)).not.toContain(line);
    expect(framesOf(error)).toContain('stack-frames.test.ts');
  });

  it('are limited to twenty', () => {
    const frames = Array.from({ length: 50 }, (_, n) => `    at f${n} (file:///a.ts:1:2)`);
    expect(framesOf(withStack(frames.join('\n'))).split('\n')).toEqual(frames.slice(0, 20));
  });

  it.each([[undefined], [null], ['    at a (file:///a.ts:1:2)'], [withStack(undefined)], [withStack(7)]])(
    'are none without a stack: %j',
    (error) => {
      expect(framesOf(error)).toBe('');
    },
  );
});

it('an error that replaces another keeps its message, and has the stack frames of both', () => {
  const foreign = withStack('Error: hunter22\n    at query (/app/node_modules/driver/index.js:1:2)');
  const error = withFramesOf(foreign, new Error('the query failed'));
  expect(error.message).toBe('the query failed');
  expect(framesOf(error)).toMatch(/stack-frames\.test\.ts[\s\S]*\n {4}at query \(/);
  expect(error.stack).not.toContain('hunter22');
});

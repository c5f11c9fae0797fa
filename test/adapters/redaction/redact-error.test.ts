import { describe, expect, it } from 'vitest';
import { redactError } from '../../../src/adapters/redaction/redact-error.ts';

const thrownBy = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error;
  }
  return expect.unreachable('nothing was thrown');
};

const secret: unknown = 'hunter22';
const nothing: unknown = undefined;

describe('what is told of an exception', () => {
  it.each<[message: string, bug: () => unknown]>([
    ["Cannot read properties of undefined (reading 'a')", () => (nothing as { a: 1 }).a],
    ['secret is not a function', () => (secret as () => void)()],
    ['nobody is not defined', () => new Function('return nobody')()],
  ])('is the message of the engine where that names code: %s', (message, bug) => {
    expect(redactError(thrownBy(bug))).toMatchObject({ message, stack: expect.stringMatching(/^ {4}at /) });
  });

  it.each<[string, () => unknown]>([
    ['a text that is no object', () => 'a' in (secret as object)],
    ['a text that is no callback', () => [1].map(secret as () => void)],
    ['a text that is no resolver', () => new Promise(secret as () => void)],
    [
      'a text with members',
      () => {
        (secret as { a: number }).a = 1;
      },
    ],
    ['an argument of Node', () => Buffer.alloc(secret as number)],
    [
      'an error by hand',
      () => {
        throw new TypeError(String(secret));
      },
    ],
  ])('is no message that may quote a value: %s', (_what, bug) => {
    const told = redactError(thrownBy(bug));
    expect(told).toMatchObject({ type: expect.any(String), stack: expect.any(String) });
    expect(JSON.stringify(told)).not.toContain('hunter22');
  });

  it('is its code, where that is a word, and its kind', () => {
    const error = Object.assign(new Error('a'), { name: 'DriverError', code: '23505' });
    expect(redactError(error)).toMatchObject({ type: 'DriverError', code: '23505' });
    const wordy = Object.assign(new Error('a'), { name: 'hunter22 was here', code: 'hunter22 too' });
    expect(JSON.stringify(redactError(wordy))).not.toContain('hunter22');
  });

  it('is the same of its causes, three of them', () => {
    const chain = [4, 3, 2, 1].reduce<Error | undefined>(
      (cause, n) => Object.assign(new Error('hunter22', { cause }), { code: `E${n}` }),
      undefined,
    );
    const text = JSON.stringify(redactError(new Error('top', { cause: chain })));
    expect(text).toContain('E3');
    expect(text).not.toMatch(/E4|hunter22/);
  });
});

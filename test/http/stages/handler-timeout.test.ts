// Proves SPEC 12.24, 12.25, 12.43
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HandlerInput } from '../../../src/adapters/http/routing/define-route.ts';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { aPerson, startService } from '../../support/http/service.ts';
import { probe, stageApp } from '../../support/http/stage-app.ts';

/** A short time-out in milliseconds, long enough for a handler that returns at once. */
const SHORT = { requestTimeoutMs: 100 };

/** A handler that settles when the test calls `resolve` or `reject`, and its input. */
const controlled = () => {
  const given = Promise.withResolvers<HandlerInput>();
  const outcome = Promise.withResolvers<unknown>();
  const handler = (input: HandlerInput) => {
    given.resolve(input);
    return outcome.promise;
  };
  return { handler, given: given.promise, ...outcome };
};

/** The unhandled rejections until the end of the test. */
const unhandledRejections = (): readonly unknown[] => {
  const seen: unknown[] = [];
  const see = (reason: unknown) => seen.push(reason);
  process.on('unhandledRejection', see);
  onTestFinished(() => {
    process.off('unhandledRejection', see);
  });
  return seen;
};

describe('a handler that takes too long', () => {
  it('is answered 503 with Retry-After in whole seconds, and its signal is aborted', async () => {
    const { handler, given } = controlled();
    const { http, logs } = await stageApp([probe(handler)], SHORT);
    const answered = http.get('/probe').expect(503);
    answered.then(() => undefined);
    const { signal } = await given;
    const early = signal.aborted;
    const { body, headers } = await answered;
    expect(body).toMatchObject({ success: false, code: 'SYS_HTTP_UNEXPECTED_ERROR', details: null });
    expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(logs.find(({ code }) => code === 'SYS_HTTP_UNEXPECTED_ERROR')).toMatchObject({ level: 'error' });
    expect([early, signal.aborted]).toEqual([false, true]);
    expect(() => signal.throwIfAborted()).toThrow(expect.objectContaining({ status: 503 }));
  });

  it.each([
    ['none', () => 'too late'],
    ['because of the abort', ({ signal }: HandlerInput) => signal.throwIfAborted()],
    ['for another reason', () => Promise.reject(new Error('too late, and broken'))],
  ])('has a later result or error ignored: %s', async (_why, end) => {
    const unhandled = unhandledRejections();
    const { handler, given, resolve } = controlled();
    const failing = probe(async (input) => {
      await handler(input);
      return end(input);
    });
    const { http, logs } = await stageApp([failing], SHORT);
    await http.get('/probe').expect(503);
    await given;
    const before = logs.length;
    expect(logs.filter(({ msg }) => msg === 'request answered')).toEqual([expect.objectContaining({ status: 503 })]);
    resolve(undefined);
    for (let turn = 0; turn < 5; turn += 1) await setImmediate();
    expect(unhandled).toEqual([]);
    expect(logs.slice(before)).toEqual([]);
  });

  it('can no longer change the response', async () => {
    const { handler, resolve } = controlled();
    const finished = Promise.withResolvers<void>();
    const meddling = probe(async (input, ctx) => {
      await handler(input);
      ctx.status = 200;
      ctx.set('Set-Cookie', 'late=1');
      ctx.body = 'too late';
      finished.resolve();
    });
    const { http } = await stageApp([meddling], SHORT);
    const response = await http.get('/probe').expect(503);
    resolve(undefined);
    await finished.promise;
    expect(response.headers).not.toHaveProperty('set-cookie');
    await http.get('/nowhere').expect(404);
  });
});

describe('a handler that is in time', () => {
  it('does not have its signal aborted, neither then nor later', async () => {
    const { handler, given, resolve } = controlled();
    resolve('in time');
    const { http } = await stageApp([probe(handler)]);
    expect((await http.get('/probe').expect(200)).body.data).toBe('in time');
    expect((await given).signal.aborted).toBe(false);
  });

  it('leaves no timer behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const { http } = await stageApp([probe(() => null)], { requestTimeoutMs: 2_000_000 });
    await http.get('/probe').expect(200);
    const before = timers();
    for (let sent = 0; sent < 10; sent += 1) await http.get('/probe').expect(200);
    expect(timers()).toBeLessThan(before + 10);
  });
});

it('REQUEST_TIMEOUT_MS is used by the service, and an aborted registration stores nothing', async () => {
  const hashed = Promise.withResolvers<string>();
  const hasher = { hash: () => hashed.promise, verify: async () => false, needsRehash: () => false };
  const service = await startService({ REQUEST_TIMEOUT_MS: '100' }, { storage: memoryStorage(), hasher });
  const person = aPerson();
  const { body, headers } = await service.http.post('/auth/register').send(person).expect(503);
  expect(body.code).toBe('SYS_HTTP_UNEXPECTED_ERROR');
  expect(headers).not.toHaveProperty('set-cookie');
  hashed.resolve('a hash');
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  expect(await service.ports.users.findByUsername(person.username)).toBeNull();
});

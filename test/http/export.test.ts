// Proves flood-12
import { setImmediate } from 'node:timers/promises';
import type { Context } from 'koa';
import { expect, it } from 'vitest';
import { exportRoute } from '../../src/adapters/http/routes/accounts/export.ts';
import type { HandlerInput } from '../../src/adapters/http/routing/define-route.ts';
import { registeredAda } from '../support/account.ts';
import { signUp } from '../support/http/auth-http.ts';
import { hasher, startService } from '../support/http/service.ts';
import { atCall } from '../support/records/at-call.ts';

/** The handler of the export, and what it does while no page of events is read until `release`. */
const setUp = async () => {
  const { app, user, session } = await registeredAda();
  const gate = Promise.withResolvers<void>();
  let reading = 0;
  const records = atCall(app.records, ['list', 'events'], async (list) => {
    reading += 1;
    await gate.promise;
    return list();
  });
  const deps = { ...app, records } as unknown as Parameters<typeof exportRoute>[0];
  const route = exportRoute(deps);
  const ctx = { state: {}, ip: '192.0.2.1', get: () => '', request: { id: 'a request' } } as unknown as Context;
  const ask = (signal = new AbortController().signal) =>
    route.handler({ caller: { userId: user.id, sessionId: session.sessionId }, signal } as HandlerInput, ctx);
  return { ask, reading: () => reading, release: gate.resolve };
};

it('exports are made one at a time', async () => {
  const { ask, reading, release } = await setUp();
  const all = Promise.all([ask(), ask(), ask()]);
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
  expect(reading()).toBe(1);
  release();
  expect(await all).toHaveLength(3);
  expect(reading()).toBe(3);
});

it('an export is not made any more for a client that has given up', async () => {
  const { ask, reading, release } = await setUp();
  const first = ask();
  const givenUp = ask(AbortSignal.abort(new Error('given up')));
  release();
  await first;
  await expect(givenUp).rejects.toThrow('given up');
  expect(reading()).toBe(1);
});

it('GET /users/me/export is limited for each user, whatever the address, and in another count than that of the clients', async () => {
  const limited = await startService({ TRUST_PROXY: '1' }, { hasher });
  const [ada, bob] = [await signUp(limited), await signUp(limited)];
  const ask = ({ accessToken }: { readonly accessToken: string }, host: number) =>
    limited.http
      .get('/users/me/export')
      .set({ Authorization: `Bearer ${accessToken}`, 'X-Forwarded-For': `192.0.2.${host}` });
  for (let host = 0; host < 5; host += 1) await ask(ada, host).expect(200);
  const refused = await ask(ada, 5).expect(429);
  expect(refused.body.code).toBe('CLIENT_REQUEST_RATE_LIMIT_EXCEEDED');
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
  for (let count = 0; count < 5; count += 1) await ask(bob, 5).expect(200);
});

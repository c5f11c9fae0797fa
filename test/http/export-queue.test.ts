// Proves flood-12

import { setImmediate } from 'node:timers/promises';
import type { Context } from 'koa';
import { expect, it } from 'vitest';
import { exportRoute } from '../../src/adapters/http/routes/accounts/export.ts';
import type { HandlerInput } from '../../src/adapters/http/routing/define-route.ts';
import { registeredAda } from '../support/account.ts';
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

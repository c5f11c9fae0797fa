// Proves flood-8
import { describe, expect, it } from 'vitest';
import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import { endEverySession, purges, removeMassEnded } from '../../../src/application/sessions/purge.ts';
import { useOnce } from '../../../src/application/storage/credentials.ts';
import { listEnded } from '../../../src/application/storage/events.ts';
import type { Transactions } from '../../../src/application/storage/records.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import { BOB, ORIGIN, registeredAda, summaryOf } from '../../support/account.ts';
import { DAY, MINUTE } from '../../support/application.ts';
import { anId, aRememberedDevice } from '../../support/builders.ts';

const OPERATOR = { ...ORIGIN, actor: 'Una' };

const setUp = async () => {
  const ada = await registeredAda();
  const { app, user } = ada;
  const { user: bob } = await app.register(BOB);
  await ada.logIn();
  const now = app.clock.now();
  for (const userId of [user.id, bob.id])
    await app.records.insert(
      'rememberedDevices',
      aRememberedDevice({ userId, createdAt: now, expiresAt: now + 30 * 86_400_000 }),
    );
  return { ...ada, bob, step: (limit: number) => removeMassEnded(app)(limit) };
};

describe('the end of all sessions', () => {
  it.each([2, 9])(
    'ends those of everybody that were open, %i at a time, with a reason, and forgets the devices',
    async (limit) => {
      const { app, ofAda, about, bob, session, logIn, step } = await setUp();
      await endEverySession(app)(OPERATOR, 'a leak');
      expect((await ofAda()).sessions).toEqual([]);
      await expect(app.refresh([session.refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
      app.clock.advance(1);
      const later = [await logIn(), await app.login({ account: BOB.username, password: BOB.password })];
      const steps: (number | null)[] = [];
      for (let ended = await step(limit); ended !== null; ended = await step(limit)) steps.push(ended);
      expect(steps.reduce<number>((sum, each) => sum + (each ?? 0), 0)).toBe(3);
      const { sessions, devices, events } = await ofAda();
      expect([sessions.length, (await about(bob.id)).sessions.length, devices]).toEqual([1, 1, []]);
      const ended = events.filter(({ kind }) => kind === 'session-ended');
      expect(ended).toMatchObject(Array(2).fill({ reason: 'operator', note: 'a leak', actor: 'Una', requestId: null }));
      for (const { refreshToken } of later) expect(await app.refresh([refreshToken])).toHaveProperty('accessToken');
      expect(await step(2)).toBeNull();
      // What is listed is everybody, not each session.
      const everybody = { userId: null, sessionId: null };
      expect(await listEnded(app.records, 0, 9)).toMatchObject([everybody, everybody]);
    },
  );

  it('forgets more devices than one step does, also where no session is open', async () => {
    const { app, user, ofAda, step, bob } = await setUp();
    await Promise.all([bob.id, user.id].map((userId) => app.sessions.endByUser(userId)));
    await endEverySession(app)(OPERATOR, null);
    expect([await step(1), await step(1), await step(1), await step(1)]).toEqual([0, 0, 0, null]);
    expect((await ofAda()).devices).toEqual([]);
  });

  it('lets none of them be replaced, as a thief with a copied token would', async () => {
    const { app, ofAda, session, user } = await setUp();
    const [{ id: sessionId } = expect.unreachable()] = (await ofAda()).sessions;
    await endEverySession(app)(OPERATOR, null);
    const replacing = app.endOtherSessions({ userId: user.id, sessionId, presented: [session.refreshToken] });
    await expect(replacing).rejects.toMatchObject({ code: 'AUTH_TOKEN_INVALID' });
  });

  it('ends one that has replaced another after that was read', async () => {
    const { app } = await setUp();
    await endEverySession(app)(OPERATOR, null);
    const stored = () => app.sessions.listAll(null, 9);
    const [first = expect.unreachable()] = await stored();
    const replacing = (sessions: SessionRepository): SessionRepository => ({
      ...sessions,
      async listAll(after, limit) {
        const found = await sessions.listAll(after, limit);
        if (await sessions.end(first)) await sessions.add({ ...first, id: anId(), createdAt: first.createdAt + 1 });
        return found;
      },
    });
    const run: Transactions['run'] = (work) =>
      app.transactions.run((stores) => work({ ...stores, sessions: replacing(stores.sessions) }));
    await removeMassEnded({ ...app, transactions: { run } })(9);
    expect(await stored()).toEqual([]);
  });

  it('is done once, however many carry it out', async () => {
    const { app, step } = await setUp();
    await endEverySession(app)(OPERATOR, null);
    const ended = await Promise.all(Array.from({ length: 12 }, () => step(1)));
    expect(ended.reduce<number>((sum, each) => sum + (each ?? 0), 0)).toBe(3);
    expect(ended.at(-1)).toBeNull();
  });
});

it('the purge of sessions deletes expired ones, and records why, without an origin', async () => {
  const { app, session: first, logIn, ofAda } = await registeredAda();
  app.clock.advance(DAY);
  const second = await logIn();
  app.clock.advance(6 * DAY);
  expect(await purges({ ...app, eventsRetention: DAY }).sessions(100)).toBe(1);
  const { sessions, events } = await ofAda();
  expect(sessions).toMatchObject([{ id: second.sessionId }]);
  expect(events.map(summaryOf)).toEqual(['session-ended: expired', 'logged-in', 'registered']);
  expect(events[0]).toMatchObject({ sessionId: first.sessionId, at: app.clock.now(), ...NO_ORIGIN });
});

it('the purge of used values keeps them for an hour, since the clock of another instance may be behind', async () => {
  const { app } = await registeredAda();
  const purge = purges({ ...app, eventsRetention: DAY })['used-values'];
  await useOnce(app.records, 'a value', app.clock.now());
  app.clock.advance(60 * MINUTE - 1);
  expect(await purge(100)).toBe(0);
  app.clock.advance(1);
  expect(await purge(100)).toBe(1);
});

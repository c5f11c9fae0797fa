import { describe, expect, it } from 'vitest';
import { endEverySession, removeEnded } from '../../../src/application/sessions/purge.ts';
import { listEnded } from '../../../src/application/storage/events.ts';
import { BOB, ORIGIN, registeredAda } from '../../support/account.ts';
import { aRememberedDevice } from '../../support/builders.ts';

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
  return { ...ada, bob, step: (limit: number) => removeEnded(app)(limit) };
};

describe('the end of all sessions', () => {
  it('ends those of everybody that were open, in steps, with a reason, and forgets the devices', async () => {
    const { app, ofAda, about, bob, session, logIn, step } = await setUp();
    await endEverySession(app)(OPERATOR, 'a leak');
    expect((await ofAda()).sessions).toEqual([]);
    await expect(app.refresh([session.refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    const steps = [await step(2)];
    app.clock.advance(1);
    const later = await logIn();
    for (let ended = await step(2); ended !== null; ended = await step(2)) steps.push(ended);
    expect(steps.reduce<number>((sum, each) => sum + (each ?? 0), 0)).toBe(3);
    expect((await about(bob.id)).sessions).toEqual([]);
    const { sessions, devices, events } = await ofAda();
    expect([sessions.length, devices]).toEqual([1, []]);
    const ended = events.filter(({ kind }) => kind === 'session-ended');
    expect(ended).toMatchObject(Array(2).fill({ reason: 'operator', note: 'a leak', actor: 'Una', requestId: null }));
    expect(await app.refresh([later.refreshToken])).toHaveProperty('accessToken');
    expect(await step(2)).toBeNull();
    // What is listed is everybody, not each session.
    const everybody = { userId: null, sessionId: null };
    expect(await listEnded(app.records, 0, 9)).toMatchObject([everybody, everybody]);
  });

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
});

import { describe, expect, it } from 'vitest';
import { rememberDevice } from '../../../src/application/sessions/end-sessions.ts';
import { prepareSession, storeSession } from '../../../src/application/sessions/open-session.ts';
import { DEVICES_PER_USER, NO_KEYS } from '../../../src/domain/device.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import { SESSIONS_PER_USER } from '../../../src/domain/session.ts';
import { ORIGIN, registeredAda, summaryOf } from '../../support/account.ts';
import { ADA, MINUTE, SECOND } from '../../support/application.ts';

/** Ada, who has a second factor. */
const setUp = async () => {
  const ada = await registeredAda();
  const {
    app,
    user: { id },
  } = ada;
  const now = app.clock.now();
  const user = (await app.users.update(id, { secondFactorAt: now, now })) ?? expect.unreachable();
  /** @returns the text for the browser. */
  const remember = (...texts: string[]) => {
    app.clock.advance(SECOND);
    return app.transactions.run((stores) => rememberDevice(app, stores, { user, texts, origin: ORIGIN }));
  };
  const logInOn = (...rememberedDevices: string[]) =>
    app.login({ account: ADA.username, password: ADA.password, rememberedDevices });
  const devices = async () => (await ada.ofAda()).devices;
  return { ...ada, user, remember, logInOn, devices };
};

describe('a remembered device', () => {
  it('is no session: more log-ins than there may be sessions do not evict it', async () => {
    const { app, user, remember, logInOn, devices } = await setUp();
    const text = await remember();
    for (let time = 0; time < SESSIONS_PER_USER + 2; time += 1) {
      app.clock.advance(MINUTE);
      await logInOn(text);
    }
    expect(await devices()).toHaveLength(1);
    expect(await app.sessions.listByUser(user.id, app.clock.now())).toHaveLength(SESSIONS_PER_USER);
  });

  it('is the oldest that is forgotten when a user has too many', async () => {
    const { ofAda, remember, logInOn, devices } = await setUp();
    const texts: string[] = [];
    for (let time = 0; time <= DEVICES_PER_USER; time += 1) texts.push(await remember());
    expect(await devices()).toHaveLength(DEVICES_PER_USER);
    const [first = '', second = ''] = texts;
    await expect(logInOn(first)).rejects.toThrow('waits for a second factor');
    await logInOn(second);
    const { events } = await ofAda();
    expect(events.filter(({ kind }) => kind === 'device-forgotten').map(summaryOf)).toEqual([
      'device-forgotten: evicted',
    ]);
  });

  it('counts as it is when the session is stored: not if it was forgotten meanwhile, or the password is newer', async () => {
    const { app, user, session, remember, devices } = await setUp();
    for (let time = 0; time < 2; time += 1) await remember();
    const [forgotten = '', live] = (await devices()).map(({ id }) => id);
    await app.endOwnSession({ userId: user.id, sessionId: session.sessionId }, forgotten);
    const authentications = [{ method: 'password', at: app.clock.now() }] as const;
    const open = async (rememberedDeviceId = '', owner = user) => {
      const given = { user: owner, origin: ORIGIN };
      const prepared = await prepareSession(app, { ...given, keys: NO_KEYS, authentications });
      const opening = { ...given, kind: 'logged-in', rememberedDeviceId } as const;
      await app.transactions.run((stores) => storeSession(app, stores, prepared.session, opening));
    };
    const refused = { code: 'AUTH_SECOND_FACTOR_REQUIRED' };
    await expect(open(forgotten)).rejects.toMatchObject(refused);
    await expect(open(live, { ...user, passwordChangedAt: app.clock.now() + 1 })).rejects.toMatchObject(refused);
    await open(live);
  });

  it('is listed after the sessions, the latest first, and forgotten there', async () => {
    const { app, user, session, remember, logInOn, devices, happened } = await setUp();
    const text = await remember();
    await remember();
    const caller = { userId: user.id, sessionId: session.sessionId };
    const [later, first] = (await devices()).toReversed();
    const { userAgent, address } = ORIGIN;
    expect(await app.listSessions(caller)).toMatchObject([
      { id: session.sessionId, remembered: false },
      { id: later?.id, remembered: true, current: false, userAgent, address },
      { id: first?.id, remembered: true, createdAt: first?.createdAt, lastUsedAt: first?.createdAt },
    ]);
    await app.endOwnSession(caller, first?.id ?? '', NO_ORIGIN);
    await expect(logInOn(text)).rejects.toThrow('waits for a second factor');
    expect(await devices()).toEqual([later]);
    await remember(text);
    expect((await happened()).slice(0, 2)).toEqual(['device-remembered', 'device-forgotten: ended-by-user']);
    await expect(app.endOwnSession(caller, first?.id ?? '')).rejects.toMatchObject({ code: 'DB_RECORD_NOT_FOUND' });
  });

  it('is forgotten by what ends all sessions', async () => {
    const { app, user, session, remember, devices, happened } = await setUp();
    await remember();
    await app.endAllSessions({ userId: user.id, sessionId: session.sessionId });
    expect(await devices()).toEqual([]);
    expect((await happened()).slice(0, 2).toSorted()).toEqual([
      'device-forgotten: all-ended',
      'session-ended: all-ended',
    ]);
  });
});

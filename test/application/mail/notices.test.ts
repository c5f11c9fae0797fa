// Proves theft-8

import { describe, expect, it } from 'vitest';
import { NOTICES_PER_HOUR } from '../../../src/application/notices.ts';
import { messagesOf } from '../../../src/application/storage/outbox.ts';
import type { Origin } from '../../../src/domain/event.ts';
import { NOTICES, type Notice } from '../../../src/domain/happenings.ts';
import { ADA, application, MINUTE, SECOND } from '../../support/application.ts';

const CHROME =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const LAPTOP: Origin = { userAgent: CHROME, address: '192.0.2.0/24', requestId: 'a request' };
const updated = (origin: Origin): Origin => ({ ...origin, userAgent: CHROME.replace('142.0.0.0', '143.0.1.5') });
const inNetwork = (number: number): Origin => ({ ...LAPTOP, address: `198.51.${number}.0/24` });

/** Ada, registered on her laptop, who gets the given notices. */
const registered = async (notices: readonly Notice[] = NOTICES) => {
  const app = application({ notices: new Set(notices) });
  const opened = await app.register({ ...ADA, origin: LAPTOP });
  const pending = async () => (await messagesOf(app.records, opened.user.id)).map(({ kind }) => kind);
  const logIn = (origin: Origin, refreshTokens: readonly string[] = []) =>
    app.login({ account: 'ada', password: ADA.password, origin, source: { networks: ['a network'], refreshTokens } });
  return { ...app, ...opened, pending, logIn };
};

describe('a notice of a log-in', () => {
  it('is sent for another network and for another browser, and not again', async () => {
    const { logIn, pending, records, user } = await registered();
    await logIn(inNetwork(1));
    expect(await messagesOf(records, user.id)).toMatchObject([
      { kind: 'new-device', userId: user.id, to: user.email, origin: inNetwork(1) },
    ]);
    await logIn({ ...LAPTOP, userAgent: 'curl/8.1' });
    expect(await pending()).toHaveLength(2);
    await logIn(inNetwork(1));
    await logIn({ ...LAPTOP, userAgent: 'curl/8.1' });
    expect(await pending()).toHaveLength(2);
  });

  it('is not sent for the registration, for the same device, or for another version of its browser', async () => {
    const { logIn, pending } = await registered();
    await logIn(LAPTOP);
    await logIn(updated(LAPTOP));
    expect(await pending()).toStrictEqual([]);
  });

  it('is not sent for a device with a refresh token of the user, wherever it is', async () => {
    const { clock, logIn, pending, refreshToken } = await registered();
    clock.advance(2 * SECOND);
    await logIn(inNetwork(1), [refreshToken]);
    expect(await pending()).toStrictEqual([]);
  });

  it('is sent a few times an hour at most', async () => {
    const { clock, logIn, pending } = await registered();
    clock.advance(61 * MINUTE);
    for (let network = 0; network < 3 * NOTICES_PER_HOUR; network += 1) await logIn(inNetwork(network));
    expect(await pending()).toHaveLength(NOTICES_PER_HOUR);
    clock.advance(61 * MINUTE);
    await logIn(inNetwork(100));
    expect(await pending()).toHaveLength(NOTICES_PER_HOUR + 1);
  });
});

describe('a notice of a changed password', () => {
  const change = async (notices: readonly Notice[] = NOTICES, times = 1) => {
    const app = await registered(notices);
    const { id: userId } = app.user;
    let currentPassword = ADA.password;
    for (let time = 0; time < times; time += 1) {
      const newPassword = `battery staple ${time}`;
      const [session] = await app.sessions.listByUser(userId, app.clock.now());
      const caller = { userId, sessionId: session?.id ?? '', tokenIssuedAt: app.clock.now() / 1000 };
      await app.changePassword({ ...caller, currentPassword, newPassword, origin: LAPTOP });
      currentPassword = newPassword;
    }
    return app.pending();
  };

  it('is sent to the address of the account, a few times an hour at most', async () => {
    expect(await change()).toStrictEqual(['password-changed']);
    expect(await change(NOTICES, 2 * NOTICES_PER_HOUR)).toHaveLength(NOTICES_PER_HOUR);
  });

  it('can be switched off', async () => {
    expect(await change(['new-device', 'email', 'replay'])).toStrictEqual([]);
  });
});

describe('a notice of a replayed token', () => {
  const replay = async (notices: readonly Notice[] = NOTICES) => {
    const app = await registered(notices);
    const { refreshToken } = app;
    await app.refresh([refreshToken]);
    app.clock.advance(MINUTE);
    for (let time = 0; time < 100; time += 1) {
      await expect(app.refresh([refreshToken], { origin: LAPTOP })).rejects.toThrow();
    }
    return app;
  };

  it('is sent once, however often the token is replayed', async () => {
    const { pending } = await replay();
    expect(await pending()).toStrictEqual(['token-replayed']);
  });

  it('is sent a few times an hour at most, and once for a token that is replayed many times at once', async () => {
    const { clock, logIn, refresh, pending } = await registered();
    const held = await Promise.all(Array.from({ length: 2 * NOTICES_PER_HOUR }, () => logIn(LAPTOP)));
    for (const { refreshToken } of held) await refresh([refreshToken]);
    clock.advance(MINUTE);
    const replayed = (token = '') => refresh([token], { origin: inNetwork(1) });
    await Promise.allSettled(Array.from({ length: 40 }, () => replayed(held[0]?.refreshToken)));
    expect(await pending()).toStrictEqual(['token-replayed']);
    for (const { refreshToken } of held) await expect(replayed(refreshToken)).rejects.toThrow();
    expect(await pending()).toHaveLength(NOTICES_PER_HOUR);
  });
});

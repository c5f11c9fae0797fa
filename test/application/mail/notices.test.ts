// Proves ASVS 6.3.5; theft-8

import { describe, expect, it } from 'vitest';
import { refusedLoginCounter } from '../../../src/application/login/refused-login-counter.ts';
import { NOTICES_PER_HOUR } from '../../../src/application/notices.ts';
import { record } from '../../../src/application/service.ts';
import { messagesOf } from '../../../src/application/storage/outbox.ts';
import type { Origin } from '../../../src/domain/event.ts';
import { NOTICE_GROUPS, type NoticeGroup } from '../../../src/domain/event-table.ts';
import { PENDING_LOGIN_LIFETIME } from '../../../src/domain/second-factor.ts';
import { ADA, application, MINUTE, SECOND } from '../../support/application.ts';
import { applicationWithMail } from '../../support/mail/sender.ts';

const CHROME =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const LAPTOP: Origin = { userAgent: CHROME, address: '192.0.2.0/24', requestId: 'a request' };
const updated = (origin: Origin): Origin => ({ ...origin, userAgent: CHROME.replace('142.0.0.0', '143.0.1.5') });
const inNetwork = (number: number): Origin => ({ ...LAPTOP, address: `198.51.${number}.0/24` });

/** Ada, registered on her laptop, who gets the given notices. */
const registered = async (notices: readonly NoticeGroup[] = NOTICE_GROUPS) => {
  const app = application({ mailNotices: new Set(notices) });
  const opened = await app.register({ ...ADA, origin: LAPTOP });
  const pending = async () => (await messagesOf(app.records, opened.user.id)).map(({ kind }) => kind);
  const logIn = (origin: Origin, refreshTokens: readonly string[] = []) =>
    app.login({ account: 'ada', password: ADA.password, origin, networks: ['a network'], refreshTokens });
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

  it('can be switched off', async () => {
    const { logIn, pending } = await registered(['password', 'email', 'replay']);
    await logIn(inNetwork(1));
    expect(await pending()).toStrictEqual([]);
  });
});

describe('a notice of a right password without the second factor', () => {
  const guarded = async () => {
    const app = await registered();
    await app.users.update(app.user.id, { secondFactorAt: app.clock.now(), now: app.clock.now() });
    const { sendAll } = applicationWithMail({}, app);
    const begin = (origin: Origin, tokens: readonly string[] = []) =>
      expect(app.logIn(origin, tokens)).rejects.toThrow('waits for a second factor');
    const subjects = async () => (await sendAll()).map(({ subject }) => subject);
    return { ...app, begin, subjects };
  };
  const SUBJECT = 'Your password at auth.example.org was used';

  it('is sent once for a device when the time for it is over, not before', async () => {
    const { clock, begin, subjects, pending } = await guarded();
    await begin(inNetwork(1));
    await begin(updated(inNetwork(1)));
    clock.advance(PENDING_LOGIN_LIFETIME - 1);
    expect(await subjects()).toEqual([]);
    expect(await pending()).toEqual(['second-factor-missing']);
    clock.advance(1);
    expect(await subjects()).toEqual([SUBJECT]);
  });

  it('is not sent to who finishes the log-in, nor for a known device', async () => {
    const { clock, begin, subjects, pending, refreshToken, transactions, records, ids, user, ...app } = await guarded();
    await begin(LAPTOP);
    clock.advance(2 * SECOND);
    await begin(inNetwork(2), [refreshToken]);
    expect(await pending()).toEqual([]);
    await begin(inNetwork(1));
    const finished = { userId: user.id, kind: 'logged-in', sessionId: 'new' } as const;
    await transactions.run((stores) => record({ ...app, clock, ids }, stores, inNetwork(1), [finished]));
    clock.advance(PENDING_LOGIN_LIFETIME);
    expect(await subjects()).toEqual([]);
    expect(await pending()).toEqual([]);
  });
});

describe('a notice of a log-in after many that failed', () => {
  const failedBefore = async (failures: number) => {
    const app = await registered();
    const counter = refusedLoginCounter(app);
    for (let failed = 0; failed < failures; failed += 1) counter.count(app.user.id, inNetwork(1));
    await counter.store();
    return app;
  };

  it('is sent once a day, for a device that is known', async () => {
    const { clock, logIn, pending } = await failedBefore(10);
    await logIn(LAPTOP);
    await logIn(LAPTOP);
    expect(await pending()).toEqual(['login-after-failures']);
    clock.advance(61 * MINUTE);
    await logIn(LAPTOP);
    expect(await pending()).toHaveLength(1);
  });

  it('is not sent after a few, nor beside that of a new device', async () => {
    const few = await failedBefore(9);
    await few.logIn(LAPTOP);
    expect(await few.pending()).toEqual([]);
    const many = await failedBefore(10);
    await many.logIn(inNetwork(1));
    expect(await many.pending()).toEqual(['new-device']);
  });
});

describe('a notice of a changed password', () => {
  const change = async (notices: readonly NoticeGroup[] = NOTICE_GROUPS, times = 1) => {
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
    expect(await change(NOTICE_GROUPS, 2 * NOTICES_PER_HOUR)).toHaveLength(NOTICES_PER_HOUR);
  });

  it('can be switched off', async () => {
    expect(await change(['new-device', 'email', 'replay'])).toStrictEqual([]);
  });
});

describe('a notice of a replayed token', () => {
  const replay = async (notices: readonly NoticeGroup[] = NOTICE_GROUPS) => {
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

  it('can be switched off', async () => {
    expect(await (await replay(['new-device', 'password', 'email'])).pending()).toStrictEqual([]);
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

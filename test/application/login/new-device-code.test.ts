// Proves guess-3, theft-8
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { callsOver, memoryRows, transactOver } from '../../../src/adapters/records/memory.ts';
import { type Calls, recordsOver, storageOver } from '../../../src/adapters/records/storage.ts';
import { finishLogin, showPendingLogin } from '../../../src/application/factors/finish-login.ts';
import { login } from '../../../src/application/login/login.ts';
import type { Service } from '../../../src/application/service.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { EMAIL, ORIGIN } from '../../support/account.ts';
import { ADA, application, MINUTE } from '../../support/application.ts';
import { applicationWithMail } from '../../support/mail/sender.ts';

/** Records in memory, and what was sent to them. */
const watchedStorage = () => {
  const sent: string[] = [];
  const stored = memoryRows();
  const watched = (calls: Calls): Calls => {
    const of = calls as unknown as Readonly<Record<string, (...given: unknown[]) => unknown>>;
    const all = Object.entries(of).map(([name, call]) => [
      name,
      (...given: unknown[]) => {
        sent.push(`${name} ${given[0]}`);
        return call(...given);
      },
    ]);
    return Object.fromEntries(all);
  };
  const transact = transactOver(stored, (rows) => watched(callsOver(rows)));
  return { sent, storage: storageOver(recordsOver(watched(callsOver(stored)), transact)) };
};

/** The key of the device on which Ada has registered. */
const proofOf = (number: number, key = 'key') => ({
  presented: { proof: { text: `${key}.${number}`, method: 'POST', urls: [] } },
});
const NETWORKS = ['a network'];
const NEW_DEVICE = { networks: NETWORKS, refreshTokens: [], origin: ORIGIN };
const RIGHT = { account: 'Ada', password: ADA.password };
const WRONG = { account: 'Ada', password: 'wrong horse' };
const UNKNOWN = { account: 'Bob', password: ADA.password };
const INVALID = { code: 'AUTH_SECOND_FACTOR_INVALID' };

/** Ada, whose address is proven, and who has registered on a device of hers. */
const setUp = async (given: Partial<Omit<Service, 'clock' | 'hasher' | 'secrets'>> = {}) => {
  const { sent, storage } = watchedStorage();
  const deps = application({ ...storage, newDeviceCode: 'on', emailVerification: 'optional', ...given });
  const app = applicationWithMail({}, deps);
  const ada = await app.register({ ...ADA, ...proofOf(1) });
  const { id } = ada.user;
  const now = app.clock.now();
  const change = (fields: object) => app.users.update(id, { ...fields, now: app.clock.now() });
  await change({ emailVerifiedAt: now });
  await app.sendAll();
  const logIn = login(deps);
  /** The cookie of the browser, or what came of the log-in. */
  const attempt = async (input: Parameters<typeof logIn>[0]): Promise<string> => {
    const result = await logIn({ ...NEW_DEVICE, ...input }).catch((error: unknown) => error);
    if (result instanceof AppError) return result.code;
    return 'pendingLogin' in Object(result) ? 'waits' : 'in';
  };
  const pending = async (input: Parameters<typeof logIn>[0]): Promise<string> => {
    const result = await logIn({ ...NEW_DEVICE, ...input });
    return 'pendingLogin' in result ? result.pendingLogin : expect.unreachable('it waits for nothing');
  };
  /** The code in the mail that goes out now; `null`: there is none. */
  const mailed = async () => /^\d{8}$/m.exec((await app.sendAll()).map(({ text }) => text).join('\n'))?.[0] ?? null;
  const finish = (pendingLogin: string, mailCode: string | null) =>
    finishLogin(deps)({
      ...{ pendingLogins: [pendingLogin], factor: { mailCode: mailCode ?? 'none' }, networks: NETWORKS },
      origin: ORIGIN,
    });
  return { app, deps, ada, id, sent, change, attempt, pending, mailed, finish };
};
let world: Awaited<ReturnType<typeof setUp>>;
beforeEach(async () => {
  world = await setUp();
});

describe('on a new device', () => {
  it('a right password and the code of the mail open a session, of one factor', async () => {
    const cookie = await world.pending(RIGHT);
    const code = await world.mailed();
    expect(world.app.mails.at(-1)).toMatchObject({ to: EMAIL, text: expect.stringContaining('password was right') });
    const { opened, rememberedDevice } = await world.finish(cookie, code);
    const session = (await world.deps.sessions.listByUser(world.id, world.app.clock.now())).find(
      ({ id }) => id === opened.sessionId,
    );
    expect(session?.amr).toEqual(['pwd', 'mca']);
    expect(await world.attempt({ ...RIGHT, rememberedDevices: [rememberedDevice ?? ''] })).toBe('in');
    await expect(world.finish(cookie, code)).rejects.toMatchObject(INVALID);
  });

  it('right, wrong and unknown have one answer, one length of the cookie and the same statements', async () => {
    const answers = [];
    for (const input of [RIGHT, WRONG, { ...UNKNOWN, account: 'Bob' }]) {
      world.sent.length = 0;
      const cookie = await world.pending(input);
      const sent = [...world.sent];
      const { expiresAt, ...shown } = await showPendingLogin(world.deps)([cookie]);
      answers.push({ length: cookie.length, sent, shown });
    }
    const [right, ...others] = answers;
    expect(right?.shown).toEqual({ methods: ['mail-code'], enrol: false, challenge: null });
    expect(right?.sent).toContain('insert outbox');
    expect(others).toEqual([right, right]);
  });

  it('a right password takes as long as a wrong one, and not on a known device', async () => {
    const verify = vi.spyOn(world.deps.hasher, 'verify');
    await world.pending(RIGHT);
    await world.attempt({ ...RIGHT, rememberedDevices: [world.ada.rememberedDevice ?? ''] });
    expect(verify.mock.calls.map(([, , hidesMatch]) => hidesMatch)).toEqual([true, false]);
  });

  it('only a right password sends a mail', async () => {
    await world.pending(WRONG);
    await world.pending(UNKNOWN);
    expect(await world.mailed()).toBeNull();
    await world.pending(RIGHT);
    expect(await world.mailed()).not.toBeNull();
  });

  it('a code that was mailed for another log-in does not help a wrong password', async () => {
    await world.pending(RIGHT);
    const code = await world.mailed();
    const cookie = await world.pending(WRONG);
    await expect(world.finish(cookie, code)).rejects.toMatchObject(INVALID);
  });

  it('a code is guessed five times', async () => {
    const cookie = await world.pending(RIGHT);
    const code = await world.mailed();
    for (let guess = 0; guess < 5; guess += 1)
      await expect(world.finish(cookie, `${guess}`.padStart(8, 'x'))).rejects.toMatchObject(INVALID);
    await expect(world.finish(cookie, code)).rejects.toMatchObject(INVALID);
  });

  it('failures are forgotten with the code, and not with the password', async () => {
    const waits = async () => (await world.attempt({ ...RIGHT })) === 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED';
    for (let count = 0; count < 49; count += 1) await world.attempt(WRONG);
    const cookie = await world.pending(RIGHT);
    expect(await waits()).toBe(true);
    await world.finish(cookie, await world.mailed());
    expect(await waits()).toBe(false);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['after ten minutes', async () => world.app.clock.advance(10 * MINUTE)],
    [
      'after a change of the password',
      async () => {
        const now = world.app.clock.now() + 1;
        await world.deps.users.setPasswordHash(world.id, { passwordHash: 'x', isOfNewPassword: true, now });
      },
    ],
    ['after a change of the address', () => world.change({ email: 'other@example.org' })],
    ['with a second factor that was added', () => world.change({ secondFactorAt: world.app.clock.now() })],
  ])('a code is refused %s', async (_when, happen) => {
    const cookie = await world.pending(RIGHT);
    const code = await world.mailed();
    await happen();
    await expect(world.finish(cookie, code)).rejects.toMatchObject(INVALID);
  });

  it('a disabled account learns of it with the code alone', async () => {
    const cookie = await world.pending(RIGHT);
    const code = await world.mailed();
    await world.change({ disabledAt: world.app.clock.now() });
    expect(await world.attempt(RIGHT)).toBe('waits');
    await expect(world.finish(cookie, code)).rejects.toMatchObject({ code: 'AUTH_ACCOUNT_DISABLED' });
  });
});

describe('without a code', () => {
  const DISCLOSED = 'AUTH_CREDENTIALS_INVALID';
  it.each<[string, () => object]>([
    ['a refresh token of the user', () => ({ networks: NETWORKS, refreshTokens: [world.ada.refreshToken] })],
    ['the device of the registration', () => ({ rememberedDevices: [world.ada.rememberedDevice] })],
    ['the key of a session', () => proofOf(2)],
  ])('logs in a device that shows %s', async (_what, shown) => {
    expect(await world.attempt({ ...RIGHT, ...shown() })).toBe('in');
    const again = await setUp();
    world = again;
    expect(await world.attempt({ ...WRONG, ...shown() })).toBe(DISCLOSED);
  });

  it('a device with another key is new', async () => {
    expect(await world.attempt({ ...RIGHT, ...proofOf(2, 'another') })).toBe('waits');
  });

  it('a device is new again after a change of the password', async () => {
    const { rememberedDevice = '' } = world.ada;
    world.app.clock.advance(MINUTE);
    const passwordHash = await world.app.hasher.hash(ADA.password);
    const now = world.app.clock.now();
    await world.deps.users.setPasswordHash(world.id, { passwordHash, isOfNewPassword: true, now });
    expect(await world.attempt({ ...RIGHT, rememberedDevices: [rememberedDevice ?? ''] })).toBe('waits');
  });

  it('logs in users whose address nobody has proven, and hides a wrong password', async () => {
    await world.change({ emailVerifiedAt: null });
    expect(await world.attempt(RIGHT)).toBe('in');
    expect(await world.attempt(WRONG)).toBe('waits');
  });

  it('asks users with a second factor for that, also beside a cookie that a host of the same domain has added before', async () => {
    const added = await world.pending({ ...RIGHT, account: 'Bob' });
    world.app.clock.advance(1);
    await world.change({ secondFactorAt: world.app.clock.now() });
    const cookie = await world.pending(RIGHT);
    expect((await showPendingLogin(world.deps)([added, cookie])).methods).not.toContain('mail-code');
  });

  it('a remembered device stands for no second factor that everybody needs', async () => {
    const strict = { ...world.deps, secondFactor: 'required' as const };
    const result = await login(strict)({
      ...NEW_DEVICE,
      ...RIGHT,
      rememberedDevices: [world.ada.rememberedDevice ?? ''],
    });
    expect(result).toHaveProperty('pendingLogin');
    await expect(login(strict)({ ...NEW_DEVICE, ...WRONG })).rejects.toMatchObject({ code: DISCLOSED });
  });

  it('nothing has changed while the setting is off', async () => {
    const off = await setUp({ newDeviceCode: 'off' });
    expect([await off.attempt(WRONG), await off.attempt(RIGHT)]).toEqual([DISCLOSED, 'in']);
    expect(off.ada.rememberedDevice).toBeUndefined();
  });
});

describe.each<['on' | 'while-mail-works', string]>([
  ['on', 'waits'],
  ['while-mail-works', 'in'],
])('with %s, while mail is down', (newDeviceCode, outcome) => {
  it(`a right password ${outcome} after five minutes, and a wrong one is hidden`, async () => {
    const down = await setUp({ newDeviceCode });
    const mailer = { send: () => Promise.reject(new Error('down')) };
    const failing = applicationWithMail({ mailer }, down.deps);
    expect(await down.attempt(RIGHT)).toBe('waits');
    await Promise.all(await failing.send(100));
    down.app.clock.advance(5 * MINUTE - 1);
    expect(await down.attempt(RIGHT)).toBe('waits');
    down.app.clock.advance(1);
    expect(await down.attempt(RIGHT)).toBe(outcome);
    expect([await down.attempt(WRONG), await down.attempt(UNKNOWN)]).toEqual(['waits', 'waits']);
  });

  it('mail to others that waits says nothing about the user', async () => {
    const down = await setUp({ newDeviceCode });
    await down.app.enqueue({ kind: 'email-verification-request', userId: null, to: 'nobody@example.org' });
    down.app.clock.advance(10 * MINUTE);
    expect(await down.attempt(RIGHT)).toBe('waits');
  });
});

// Proves SPEC 22.13; ASVS 6.1.1, 6.3.1; guess-1, guess-2
import { describe, expect, it } from 'vitest';
import { memoryCounts } from '../../../src/adapters/limits/counts.ts';
import { countAttempts } from '../../../src/adapters/limits/login-attempts.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { ADA, application, DAY, MINUTE, SECOND } from '../../support/application.ts';
import { aSession } from '../../support/builders.ts';
import { fixedClock } from '../../support/fixed-clock.ts';

const OWNER = '192.0.2.1';
const ATTACKER = '198.51.100.1';
const BOB = { username: 'Bob', email: 'bob@example.org', password: 'staple battery' };
const NEW_PASSWORD = 'staple battery horse';
const FREE = 50;

/** The networks of an address. */
const networksOf = (address: string): string[] => {
  const [one, two, three] = address.split('.');
  return [`${one}.${two}/16`, `${one}.${two}.${three}/24`, address];
};

const setUp = async () => {
  const clock = fixedClock(0);
  const app = application({ attempts: countAttempts(memoryCounts({ now: clock.now }), clock) });
  const ada = await app.register(ADA);
  /** @returns the result of a log-in: `in`, the error code, or the seconds to wait. */
  const logIn = async (
    password: string,
    { account = 'Ada', network = OWNER, refreshTokens = [] as readonly string[] } = {},
  ): Promise<string | number> => {
    try {
      await app.login({ account, password, networks: networksOf(network), refreshTokens });
      return 'in';
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return error.retryAfter ?? error.code;
    }
  };
  const guess = async (times: number, from: Parameters<typeof logIn>[1] = {}): Promise<Set<string | number>> => {
    const outcomes = new Set<string | number>();
    for (let count = 0; count < times; count += 1) outcomes.add(await logIn('a guess', from));
    return outcomes;
  };
  /** Attempts on an account from a foreign network until the wait is a minute, and continues. */
  const attackContinuously = async (account = 'Ada', networks: readonly string[] = [ATTACKER]): Promise<void> => {
    for (let second = 0; second < 600; second += 1) {
      for (const network of networks) await guess(second < FREE ? 1 : 3, { account, network });
      clock.advance(SECOND);
    }
  };
  return { app, ada, clock, logIn, guess, attackContinuously };
};

const INVALID = 'AUTH_CREDENTIALS_INVALID';

describe.each([
  ['an account', 'Ada'],
  ['an account that does not exist', 'Nobody'],
  ['an email that does not exist', 'nobody@example.org'],
])('after 50 failed log-ins on %s', (_what, account) => {
  it('every further one has to wait, from one second on, doubled each time up to a minute', async () => {
    const { app, clock, guess } = await setUp();
    expect([...(await guess(FREE, { account }))]).toEqual([INVALID]);
    const before = app.hasher.comparisons();
    const waits: (string | number)[] = [];
    for (let round = 0; round < 8; round += 1) {
      waits.push(...(await guess(3, { account })));
      clock.advance(MINUTE);
      expect([...(await guess(1, { account }))]).toEqual([INVALID]);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    // During the wait no password is compared.
    expect(app.hasher.comparisons() - before).toBe(8);
  });

  it('the account is the same in every letter case', async () => {
    const { guess } = await setUp();
    const spellings = [account.toUpperCase(), account.toLowerCase()];
    for (let round = 0; round < FREE / 2; round += 1) {
      for (const spelling of spellings) await guess(1, { account: spelling });
    }
    expect([...(await guess(1, { account }))]).toEqual([1]);
  });
});

describe('a change of the password', () => {
  const change = (app: Awaited<ReturnType<typeof setUp>>['app'], userId: string, sessionId: string, issuedAt: number) =>
    app
      .changePassword({
        ...{ userId, sessionId, tokenIssuedAt: issuedAt / 1_000 },
        ...{ currentPassword: 'a guess', newPassword: NEW_PASSWORD },
      })
      .catch(({ code }: AppError) => code);

  it('is counted with the log-ins of all devices of its user, and of nobody else', async () => {
    const { app, ada, guess } = await setUp();
    const bob = await app.register(BOB);
    const before = app.hasher.comparisons();
    for (let count = 0; count < 2 * FREE; count += 1) await change(app, ada.user.id, ada.sessionId, app.clock.now());
    expect(app.hasher.comparisons() - before).toBe(FREE);
    await guess(2 * FREE, { network: ATTACKER, refreshTokens: [ada.refreshToken] });
    expect(app.hasher.comparisons() - before).toBe(2 * FREE);
    for (let count = 0; count < FREE; count += 1) await change(app, bob.user.id, bob.sessionId, app.clock.now());
    expect(app.hasher.comparisons() - before).toBe(3 * FREE);
  });

  it('counts all access tokens that are older than the password as one device', async () => {
    const { app, ada } = await setUp();
    const issuedAt = app.clock.now();
    app.clock.advance(MINUTE);
    const passwordHash = await app.hasher.hash(NEW_PASSWORD);
    await app.users.setPasswordHash(ada.user.id, { passwordHash, isOfNewPassword: true, now: app.clock.now() });
    const before = app.hasher.comparisons();
    for (let stolen = 0; stolen < 10; stolen += 1) {
      const session = aSession({ userId: ada.user.id });
      await app.sessions.add(session);
      for (let count = 0; count < 25; count += 1) await change(app, ada.user.id, session.id, issuedAt);
    }
    expect(app.hasher.comparisons() - before).toBe(FREE);
    expect(await change(app, ada.user.id, ada.sessionId, app.clock.now() + SECOND)).toBe(INVALID);
  });
});

describe('failed log-ins', () => {
  it('on the username and on the email of one account are counted separately', async () => {
    const { app, guess } = await setUp();
    const before = app.hasher.comparisons();
    for (const account of ['Ada', ADA.email]) await guess(2 * FREE, { account, network: ATTACKER });
    expect(app.hasher.comparisons() - before).toBe(100);
  });

  it('are not counted when no password was compared', async () => {
    const { app, logIn } = await setUp();
    const { verify } = app.hasher;
    app.hasher.verify = () => Promise.reject(new AppError('SYS_HTTP_UNEXPECTED_ERROR', { status: 503 }));
    for (let count = 0; count < 2 * FREE; count += 1) expect(await logIn('a guess')).toBe('SYS_HTTP_UNEXPECTED_ERROR');
    app.hasher.verify = verify;
    expect(await logIn('a guess')).toBe(INVALID);
    expect(await logIn(ADA.password)).toBe('in');
  });
});

describe('an attacker who guesses continuously does not lock out', () => {
  it('a device that has logged in before, whatever its network', async () => {
    const { ada, attackContinuously, logIn } = await setUp();
    await attackContinuously();
    const device = { network: ATTACKER, refreshTokens: [ada.refreshToken] };
    expect(await logIn(ADA.password, { network: ATTACKER })).toBeTypeOf('number');
    expect(await logIn('a typo', device)).toBe(INVALID);
    expect(await logIn(ADA.password, device)).toBe('in');
  });

  it('such a device after its session was rotated or ended, until the token expires', async () => {
    const { app, ada, attackContinuously, logIn } = await setUp();
    const { refreshToken } = await app.refresh([ada.refreshToken]);
    await app.logout([refreshToken]);
    await attackContinuously();
    for (const token of [ada.refreshToken, refreshToken]) {
      expect(await logIn(ADA.password, { network: ATTACKER, refreshTokens: ['no token', token] })).toBe('in');
    }
    app.clock.advance(7 * DAY);
    expect(await logIn(ADA.password, { network: ATTACKER, refreshTokens: [refreshToken] })).toBeTypeOf('number');
  });

  it('the owner who has got another password', async () => {
    const { app, ada, attackContinuously, logIn } = await setUp();
    await attackContinuously();
    const passwordHash = await app.hasher.hash(NEW_PASSWORD);
    await app.users.setPasswordHash(ada.user.id, { passwordHash, isOfNewPassword: true, now: app.clock.now() });
    expect(await logIn(NEW_PASSWORD, { network: ATTACKER })).toBe('in');
  });

  it('such a device that another user has used since', async () => {
    const { app, ada, attackContinuously, logIn } = await setUp();
    const bob = await app.register(BOB);
    await attackContinuously();
    const refreshTokens = [bob.refreshToken, ada.refreshToken];
    expect(await logIn(ADA.password, { network: ATTACKER, refreshTokens })).toBe('in');
  });
});

describe('a device that has logged in before', () => {
  it('has 50 guesses of its own, and then those of any network', async () => {
    const { app, ada, guess } = await setUp();
    const before = app.hasher.comparisons();
    const device = { refreshTokens: [ada.refreshToken] };
    expect([...(await guess(2 * FREE, device))]).toEqual([INVALID]);
    expect([...(await guess(1, device))]).toEqual([1]);
    expect([...(await guess(1))]).toEqual([1]);
    expect(app.hasher.comparisons() - before).toBe(2 * FREE);
  });

  it('is admitted at least as often as without its cookie, whatever was guessed with a copy of it', async () => {
    const { ada, clock, guess, logIn } = await setUp();
    const device = { refreshTokens: [ada.refreshToken] };
    for (let minute = 0; minute < 100; minute += 1) {
      await guess(3, { network: ATTACKER, ...device });
      clock.advance(MINUTE);
    }
    await guess(1, { network: ATTACKER, ...device });
    expect(await logIn(ADA.password, device)).toBe('in');
  });

  it('is not known after a change of the password, until it presents a token issued since', async () => {
    const { app, ada, guess, logIn } = await setUp();
    const stolen = [ada];
    for (let device = 0; device < 5; device += 1) {
      stolen.push(await app.login({ account: 'Ada', password: ADA.password }));
    }
    app.clock.advance(500);
    const changed = await app.changePassword({
      ...{ userId: ada.user.id, sessionId: ada.sessionId, tokenIssuedAt: app.clock.now() / 1_000 },
      ...{ currentPassword: ADA.password, newPassword: NEW_PASSWORD },
    });
    const before = app.hasher.comparisons();
    for (const { refreshToken } of stolen) await guess(2 * FREE, { network: ATTACKER, refreshTokens: [refreshToken] });
    expect(app.hasher.comparisons() - before).toBe(FREE);

    app.clock.advance(500);
    const { refreshToken } = await app.refresh([changed.refreshToken]);
    expect(await logIn(NEW_PASSWORD, { network: ATTACKER, refreshTokens: [refreshToken] })).toBe('in');
  });

  it('is still known after a rehash of the password', async () => {
    const { app, ada, attackContinuously, logIn } = await setUp();
    app.clock.advance(MINUTE);
    const passwordHash = await app.hasher.hash(ADA.password);
    await app.users.setPasswordHash(ada.user.id, { passwordHash, isOfNewPassword: false, now: app.clock.now() });
    await attackContinuously();
    expect(await logIn(ADA.password, { network: ATTACKER, refreshTokens: [ada.refreshToken] })).toBe('in');
  });

  it('is not known to other accounts and to unknown ones', async () => {
    const { app, guess } = await setUp();
    const bob = await app.register(BOB);
    const refreshTokens = [bob.refreshToken];
    for (const account of ['Ada', 'Nobody']) {
      await guess(FREE, { account });
      expect([...(await guess(1, { account, refreshTokens }))]).toEqual([1]);
    }
  });

  it.each([
    ['no token', () => 'x'],
    ['an access token', ({ accessToken }: { accessToken: string }) => accessToken],
  ])('is not known by presenting %s', async (_what, shown) => {
    const { ada, guess } = await setUp();
    await guess(FREE);
    expect([...(await guess(1, { refreshTokens: [shown(ada)] }))]).toEqual([1]);
  });
});

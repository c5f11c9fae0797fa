import { describe, expect, it } from 'vitest';
import { fixedClock } from '../../src/adapters/clock/fixed.ts';
import { memoryLoginAttempts } from '../../src/adapters/login-attempts/memory.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { ADA, application, DAY, MINUTE, SECOND } from '../support/application.ts';

const HOME = '192.0.2.1';
const STRANGER = '198.51.100.1';
const BOB = { username: 'Bob', email: 'bob@example.org', password: 'staple battery' };
const FREE = 100;

const setUp = async () => {
  const clock = fixedClock(0);
  const app = application({ attempts: memoryLoginAttempts({ now: clock.now }) });
  const ada = await app.register(ADA);
  /** @returns how a log-in ended: `in`, the code of its refusal, or the seconds it was told to wait. */
  const logIn = async (
    password: string,
    { account = 'Ada', network = HOME, refreshTokens = [] as readonly string[] } = {},
  ): Promise<string | number> => {
    try {
      await app.login({ account, password, origin: { network, refreshTokens } });
      return 'in';
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return error.code === 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED' ? Number(error.headers['Retry-After']) : error.code;
    }
  };
  const guess = async (times: number, from: Parameters<typeof logIn>[1] = {}): Promise<Set<string | number>> => {
    const outcomes = new Set<string | number>();
    for (let count = 0; count < times; count += 1) outcomes.add(await logIn('a guess', from));
    return outcomes;
  };
  /** A stranger tries at an account until it waits a minute between two tries, and goes on. */
  const besiege = async (account = 'Ada', networks: readonly string[] = [STRANGER]): Promise<void> => {
    for (let second = 0; second < 600; second += 1) {
      for (const network of networks) await guess(second < 100 ? 1 : 3, { account, network });
      clock.advance(SECOND);
    }
  };
  return { app, ada, clock, logIn, guess, besiege };
};

const INVALID = 'AUTH_CREDENTIALS_INVALID';

describe.each([
  ['an account', 'Ada'],
  ['an account that does not exist', 'Nobody'],
  ['an email that does not exist', 'nobody@example.org'],
])('after 100 failed log-ins in a row, %s', (_what, account) => {
  it('has each further one wait, from a second on and twice as long each time up to a minute', async () => {
    const { clock, guess } = await setUp();
    expect([...(await guess(FREE, { account }))]).toEqual([INVALID]);
    const waits: (string | number)[] = [];
    for (let round = 0; round < 8; round += 1) {
      waits.push(...(await guess(3, { account })));
      clock.advance(MINUTE);
      expect([...(await guess(1, { account }))]).toEqual([INVALID]);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it('pays for no comparison while it waits', async () => {
    const { app, guess } = await setUp();
    await guess(FREE, { account });
    const before = app.hasher.comparisons();
    await guess(50, { account });
    expect(app.hasher.comparisons()).toBe(before);
  });

  it('is one account in whatever letter case it is written', async () => {
    const { guess } = await setUp();
    const spellings = [account.toUpperCase(), account.toLowerCase()];
    for (let round = 0; round < FREE / 2; round += 1) {
      for (const spelling of spellings) await guess(1, { account: spelling });
    }
    expect([...(await guess(1, { account }))]).toEqual([1]);
  });
});

describe('a log-in that has to wait', () => {
  it('is refused as any request too many is, and does not tell the password right or wrong', async () => {
    const { app, guess } = await setUp();
    await guess(FREE);
    const refusals = await Promise.all(
      ['a guess', ADA.password].map((password) =>
        app
          .login({ account: 'Ada', password, origin: { network: HOME, refreshTokens: [] } })
          .catch((error: unknown) => error),
      ),
    );
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({
        code: 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED',
        status: 429,
        level: 'warn',
        headers: { 'Retry-After': '1' },
        details: null,
      });
    }
  });

  it('leaves other accounts alone', async () => {
    const { app, guess, logIn } = await setUp();
    await app.register(BOB);
    await guess(FREE);
    expect(await logIn(BOB.password, { account: 'Bob' })).toBe('in');
  });

  it('leaves open sessions alone', async () => {
    const { app, ada, besiege } = await setUp();
    await besiege();
    const { refreshToken } = await app.refresh([ada.refreshToken]);
    expect(await app.refresh([refreshToken])).toHaveProperty('accessToken');
  });

  it('is let through an hour after the last that was', async () => {
    const { clock, guess } = await setUp();
    await guess(FREE);
    clock.advance(60 * MINUTE);
    expect([...(await guess(FREE))]).toEqual([INVALID]);
    expect([...(await guess(1))]).toEqual([1]);
  });
});

describe('failed log-ins', () => {
  it('are forgotten when one succeeds', async () => {
    const { guess, logIn } = await setUp();
    for (let round = 0; round < 3; round += 1) {
      expect([...(await guess(FREE - 1))]).toEqual([INVALID]);
      expect(await logIn(ADA.password)).toBe('in');
    }
  });

  it('are compared so many times and no more, however many come at once', async () => {
    const { app, logIn } = await setUp();
    const before = app.hasher.comparisons();
    const outcomes = await Promise.all(Array.from({ length: 300 }, () => logIn('a guess')));
    expect(app.hasher.comparisons() - before).toBe(FREE);
    expect(outcomes.filter((outcome) => outcome === INVALID)).toHaveLength(FREE);
    expect(outcomes.filter((outcome) => outcome === 1)).toHaveLength(200);
  });

  it('are none where no password was compared', async () => {
    const { app, logIn } = await setUp();
    const { verify } = app.hasher;
    app.hasher.verify = () => Promise.reject(new AppError('SYS_HTTP_UNEXPECTED_ERROR', { status: 503 }));
    for (let count = 0; count < 2 * FREE; count += 1) expect(await logIn('a guess')).toBe('SYS_HTTP_UNEXPECTED_ERROR');
    app.hasher.verify = verify;
    expect(await logIn('a guess')).toBe(INVALID);
    expect(await logIn(ADA.password)).toBe('in');
  });
});

describe('a stranger who never ceases to guess does not keep out', () => {
  it('a device that has logged in before, whatever its network', async () => {
    const { ada, besiege, logIn } = await setUp();
    await besiege();
    const device = { network: STRANGER, refreshTokens: [ada.refreshToken] };
    expect(await logIn(ADA.password, { network: STRANGER })).toBeTypeOf('number');
    expect(await logIn('a typo', device)).toBe(INVALID);
    expect(await logIn(ADA.password, device)).toBe('in');
  });

  it('such a device when its session was rotated or has ended, until the token expires', async () => {
    const { app, ada, besiege, logIn } = await setUp();
    const { refreshToken } = await app.refresh([ada.refreshToken]);
    await app.endSession([refreshToken]);
    await besiege();
    for (const token of [ada.refreshToken, refreshToken]) {
      expect(await logIn(ADA.password, { network: STRANGER, refreshTokens: ['no token', token] })).toBe('in');
    }
    app.clock.advance(7 * DAY);
    expect(await logIn(ADA.password, { network: STRANGER, refreshTokens: [refreshToken] })).toBeTypeOf('number');
  });

  it('such a device that somebody else has used since', async () => {
    const { app, ada, besiege, logIn } = await setUp();
    const bob = await app.register(BOB);
    await besiege();
    const refreshTokens = [bob.refreshToken, ada.refreshToken];
    expect(await logIn(ADA.password, { network: STRANGER, refreshTokens })).toBe('in');
  });

  it('a device that has never logged in, on any other network', async () => {
    const { besiege, logIn } = await setUp();
    await besiege();
    expect(await logIn(ADA.password, { network: STRANGER })).toBeTypeOf('number');
    expect(await logIn(ADA.password)).toBe('in');
  });

  it('such a device from ten networks at once, for longer than a minute', async () => {
    const { clock, besiege, guess, logIn } = await setUp();
    const networks = Array.from({ length: 10 }, (_none, index) => `198.51.100.${index}`);
    await besiege('Ada', networks);
    for (let minute = 0; minute < 30; minute += 1) {
      for (const network of networks) await guess(1, { network });
      clock.advance(MINUTE);
    }
    expect(await logIn(ADA.password)).toBe('in');
  });
});

describe('a device that has logged in before', () => {
  it('is held to the same bound itself', async () => {
    const { ada, guess } = await setUp();
    const device = { refreshTokens: [ada.refreshToken] };
    expect([...(await guess(FREE, device))]).toEqual([INVALID]);
    expect([...(await guess(1, device))]).toEqual([1]);
  });

  it('neither waits for another one, nor clears the count of strangers', async () => {
    const { app, ada, guess, logIn } = await setUp();
    const { refreshToken } = await app.login({ account: 'Ada', password: ADA.password });
    await guess(FREE, { network: STRANGER });
    await guess(FREE + 1, { refreshTokens: [ada.refreshToken] });
    expect(await logIn(ADA.password, { refreshTokens: [refreshToken] })).toBe('in');
    expect([...(await guess(1, { refreshTokens: [ada.refreshToken] }))]).toEqual([1]);
    expect([...(await guess(1, { network: STRANGER }))]).toEqual([1]);
  });

  it('is a stranger to every other account, and to names of nobody', async () => {
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
  ])('is none for showing %s', async (_what, shown) => {
    const { ada, guess } = await setUp();
    await guess(FREE);
    expect([...(await guess(1, { refreshTokens: [shown(ada)] }))]).toEqual([1]);
  });
});

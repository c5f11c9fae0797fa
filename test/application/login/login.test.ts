// Proves ASVS 7.2.4; theft-1
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { logInWithCode, requestLoginCode } from '../../../src/application/accounts/login-by-code.ts';
import { logInWithAppCode, makeAppCode } from '../../../src/application/login/app-code.ts';
import { keyedMutex, login } from '../../../src/application/login/login.ts';
import type { Session } from '../../../src/domain/session.ts';
import { BOB, EMAIL, ORIGIN, registeredAda } from '../../support/account.ts';
import { ADA, application, MINUTE } from '../../support/application.ts';
import { plainTokenSigner } from '../../support/fakes.ts';
import { beforeNextTransaction } from '../../support/transactions.ts';

const setUp = async () => {
  const app = application();
  return { app, ada: await app.register(ADA) };
};

describe('login', () => {
  it.each(['Ada', 'ada', 'ADA', 'Ada@Example.org', 'ada@example.org', ' ADA@example.ORG '])(
    'finds the account %j',
    async (account) => {
      const { app, ada } = await setUp();
      const { user, accessToken } = await app.login({ account, password: ADA.password });
      expect(user).toEqual(ada.user);
      expect(await app.authenticate(accessToken)).toMatchObject({
        ok: true,
        token: { claims: { sub: user.id, user } },
      });
    },
  );

  it('opens a session in addition to existing ones', async () => {
    const { app, ada } = await setUp();
    const { refreshToken } = await app.login({ account: 'Ada', password: ADA.password });
    await app.logout([refreshToken]);
    await expect(app.refresh([refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(await app.refresh([ada.refreshToken])).toHaveProperty('accessToken');
  });

  it.each([
    ['another password', 'Ada', 'wrong horse'],
    ['the password in another letter case', 'Ada', 'Correct horse'],
    ['no password', 'Ada', ''],
    ['a password over 72 bytes that begins with the right one', 'Ada', `${ADA.password}${'x'.repeat(72)}`],
    ['an unknown username', 'Bob', ADA.password],
    ['an unknown email', 'bob@example.org', ADA.password],
    ['an account with an @ that only resembles a username', 'Ada@', ADA.password],
    ['no account', '', ADA.password],
  ])('refuses %s after one hash comparison, without saying which was wrong', async (_, account, password) => {
    const { app } = await setUp();
    const before = app.hasher.comparisons();
    const refusal = await app.login({ account, password }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'AUTH_CREDENTIALS_INVALID', status: 401, details: null, reason: undefined });
    expect(app.hasher.comparisons() - before).toBe(1);
  });

  it('opens no session when the request was aborted or the password is wrong', async () => {
    const { users, sessions, records } = memoryStorage();
    let opened = 0;
    const add = async (session: Session) => {
      opened += 1;
      return sessions.add(session);
    };
    const app = application({ users, sessions: { ...sessions, add }, records });
    await app.register(ADA);
    await expect(app.login({ account: 'Ada', password: ADA.password }, AbortSignal.abort())).rejects.toThrow();
    await expect(app.login({ account: 'Ada', password: 'wrong horse' })).rejects.toThrow();
    expect(opened).toBe(1);
  });
});

describe('a log-in that presents refresh tokens', () => {
  const presenting = (...refreshTokens: readonly string[]) => ({
    account: 'Ada',
    password: ADA.password,
    networks: ['a network'],
    refreshTokens,
    origin: ORIGIN,
  });

  it('ends the session of a valid one, in whose place it opens its own', async () => {
    const { app, ofAda, session, happened, pending } = await registeredAda();
    const { sessionId } = await app.login(presenting(session.refreshToken));
    expect((await ofAda()).sessions.map(({ id }) => id)).toEqual([sessionId]);
    expect((await happened()).slice(0, 2)).toEqual(['logged-in', 'session-ended: replaced']);
    expect(await pending()).not.toContainEqual(expect.stringContaining('token-replayed'));
  });

  it('ends the session of a stale one as a replay, and notifies the user, whether or not the current one is presented elsewhere', async () => {
    const { app, session, happened, pending } = await registeredAda();
    const thief = await app.refresh([session.refreshToken]);
    app.clock.advance(MINUTE);
    await login(app)(presenting(session.refreshToken));
    expect((await happened()).slice(0, 2)).toEqual(['logged-in', 'session-ended: token-replayed']);
    expect(await pending()).toContain('token-replayed to ada@example.org');
    await expect(app.refresh([thief.refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
  });

  it('judges each session by the best of its tokens', async () => {
    const { app, session, logIn, happened } = await registeredAda();
    const { refreshToken } = await app.refresh([session.refreshToken]);
    const elsewhere = await logIn();
    await app.refresh([elsewhere.refreshToken]);
    app.clock.advance(MINUTE);
    await app.login(presenting(elsewhere.refreshToken, session.refreshToken, refreshToken, 'forged'));
    expect((await happened()).slice(0, 3).sort()).toEqual([
      'logged-in',
      'session-ended: replaced',
      'session-ended: token-replayed',
    ]);
  });

  it('ends no session of another user, also by a reused token, and none that has already ended', async () => {
    const { app, session, happened } = await registeredAda();
    const bob = await app.register(BOB);
    const { refreshToken } = await app.refresh([bob.refreshToken]);
    app.clock.advance(MINUTE);
    await app.logout([session.refreshToken]);
    for (const ofBob of [refreshToken, bob.refreshToken]) await app.login(presenting(ofBob, session.refreshToken));
    expect((await happened()).slice(0, 2)).toEqual(['logged-in', 'session-ended: logout']);
    expect(await app.refresh([refreshToken])).toHaveProperty('accessToken');
  });

  it('ends none when it is refused', async () => {
    const { app, session } = await registeredAda();
    const refused = app.login({ ...presenting(session.refreshToken), password: 'wrong horse' });
    await expect(refused).rejects.toMatchObject({ code: 'AUTH_CREDENTIALS_INVALID' });
    expect(await app.refresh([session.refreshToken])).toHaveProperty('accessToken');
  });

  it('has them verified as often whether the account exists or not', async () => {
    const tokens = plainTokenSigner();
    let verified = 0;
    const verifyRefresh: typeof tokens.verifyRefresh = (...given) => {
      verified += 1;
      return tokens.verifyRefresh(...given);
    };
    const app = application({ tokens: { ...tokens, verifyRefresh } });
    const { refreshToken } = await app.register(ADA);
    const counts: number[] = [];
    for (const account of ['Ada', 'Bob']) {
      verified = 0;
      const refused = app.login({ ...presenting(refreshToken, 'forged'), account, password: 'wrong horse' });
      await expect(refused).rejects.toMatchObject({ code: 'AUTH_CREDENTIALS_INVALID' });
      counts.push(verified);
    }
    expect(counts).toEqual([2, 2]);
  });
});

it.each<[string, (ada: Awaited<ReturnType<typeof registeredAda>>) => Promise<unknown>]>([
  ['address', ({ app, user: { id } }) => app.users.update(id, { email: 'ada@new.example', now: 1 })],
  ['password', ({ setPassword }) => setPassword('staple battery', { isNew: true })],
])('a code by mail opens no session of an account that gets another %s at that moment', async (_what, change) => {
  const ada = await registeredAda();
  const { app } = ada;
  const asked = [await requestLoginCode(app)({ account: EMAIL })];
  const [mail] = await app.sendAll();
  const [code = ''] = /^\d{8}$/m.exec(mail?.text ?? '') ?? [];
  beforeNextTransaction(app, () => change(ada));
  await expect(logInWithCode(app)({ code, asked })).rejects.toMatchObject({
    reason: 'the user was deleted, or has another address or password',
  });
});

it('a code of an app opens no session when that of the browser ends at that moment', async () => {
  const { app, user, session } = await registeredAda();
  const caller = { userId: user.id, sessionId: session.sessionId };
  const code = await makeAppCode(app)(caller, app.secrets.hashOf('verifier'), { proof: null }, 'app-code');
  beforeNextTransaction(app, () => app.sessions.end({ id: session.sessionId, userId: user.id }));
  const refused = { code: 'AUTH_CODE_INVALID', reason: 'the session has ended' };
  await expect(logInWithAppCode(app)({ code, verifier: 'verifier' })).rejects.toMatchObject(refused);
});

describe('keyedMutex', () => {
  const setUp = () => {
    const oneAtATime = keyedMutex();
    const begun: string[] = [];
    /** Begins work that ends when the test says so. */
    const begin = (key: string, name: string) => {
      const end = Promise.withResolvers<string>();
      const done = oneAtATime(key, () => {
        begun.push(name);
        return end.promise;
      });
      return { done, end };
    };
    return { begun, begin, settle: () => new Promise((resolve) => setImmediate(resolve)) };
  };

  it('let the work of one key wait for the work before it, and no other', async () => {
    const { begun, begin, settle } = setUp();
    const [first, second, other] = [begin('ada', 'first'), begin('ada', 'second'), begin('bob', 'other')];
    await settle();
    expect(begun).toEqual(['first', 'other']);
    first.end.resolve('one');
    expect(await first.done).toBe('one');
    await settle();
    expect(begun).toEqual(['first', 'other', 'second']);
    for (const { end } of [second, other]) end.resolve('');
  });

  it('go on after work that failed, which only its own caller sees', async () => {
    const { begun, begin } = setUp();
    const [first, second] = [begin('ada', 'first'), begin('ada', 'second')];
    first.end.reject(new Error('failed'));
    second.end.resolve('two');
    await expect(first.done).rejects.toThrow('failed');
    expect(await second.done).toBe('two');
    const third = begin('ada', 'third');
    third.end.resolve('three');
    expect(await third.done).toBe('three');
    expect(begun).toEqual(['first', 'second', 'third']);
  });
});

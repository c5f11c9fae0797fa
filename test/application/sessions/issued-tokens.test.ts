// Proves ASVS 6.1.3
import { describe, expect, it, vi } from 'vitest';
import { limitedClaims } from '../../../src/adapters/hooks/bounded.ts';
import { confirmEmailChange, requestEmailChange } from '../../../src/application/accounts/change-email.ts';
import { changePassword } from '../../../src/application/accounts/profile.ts';
import { register } from '../../../src/application/accounts/register.ts';
import { finishLogin } from '../../../src/application/factors/finish-login.ts';
import { confirmApp, startApp } from '../../../src/application/factors/manage-factors.ts';
import {
  addPasskey,
  beginPasskeyRegistration,
  logInWithPasskey,
  passkeyChallenge,
} from '../../../src/application/factors/passkeys.ts';
import { stepUp } from '../../../src/application/factors/step-up.ts';
import { login } from '../../../src/application/login/login.ts';
import type { Hooks } from '../../../src/application/ports/hooks.ts';
import { endOtherSessions } from '../../../src/application/sessions/manage-sessions.ts';
import { refresh } from '../../../src/application/sessions/refresh.ts';
import { continueNavigation, mintAccessToken } from '../../../src/application/sessions/rendered-pages.ts';
import { issueAccessToken, issueTokenPair } from '../../../src/application/sessions/tokens.ts';
import { registeredAda } from '../../support/account.ts';
import { ADA, MINUTE, SECOND } from '../../support/application.ts';
import { authenticator } from '../../support/authenticator.ts';
import { codeAt } from '../../support/authenticator-app.ts';
import { tokenIn } from '../../support/mail/sender.ts';

/*
 * One step issues all tokens, and one rule says who may have some. Each way to it is tried by a user who was disabled a moment before,
 * while the session is still there.
 */

const setUp = async () => {
  const { app, user, session, ofAda } = await registeredAda();
  const userId = user.id;
  const caller = { userId, sessionId: session.sessionId };
  const request = () => ({ ...caller, tokenIssuedAt: app.clock.now() / SECOND });
  return { app, userId, session, caller, request, ofAda };
};
type Ada = Awaited<ReturnType<typeof setUp>>;

const replaying = ({ app }: Ada) => ({ ...app, jwtRefreshReplayWindow: 10 * SECOND });

const withApp = async ({ app, caller, request }: Ada) => {
  const { id, secret } = await startApp(app, app.secrets.factors)(caller);
  await confirmApp(app)({ ...request(), id, code: codeAt(secret, app.clock.now()) });
  app.clock.advance(MINUTE);
  return () => codeAt(secret, app.clock.now());
};

const withPasskey = async ({ app, caller }: Ada) => {
  const key = authenticator({ rpId: 'localhost', origin: 'http://localhost' });
  const { challenge, userHandle } = await beginPasskeyRegistration(app)(caller);
  const options = { challenge: Buffer.from(challenge).toString('base64url'), user: { id: userHandle } };
  await addPasskey(app)(caller, { credential: key.create(options) });
  return () => {
    const use = passkeyChallenge(app)().challenge;
    return key.get({ challenge: Buffer.from(use).toString('base64url') }, { isUserVerified: true });
  };
};

/** Prepares a way to tokens. @returns what takes it. */
type Way = (ada: Ada) => Promise<() => Promise<unknown>>;

/** Every way to tokens of an account that exists. */
const WAYS: Readonly<Record<string, Way>> = {
  'a log-in':
    async ({ app }) =>
    () =>
      login(app)({ account: ADA.username, password: ADA.password }),
  'a second factor': async (ada) => {
    const code = await withApp(ada);
    const pending = await login(ada.app)({ account: ADA.username, password: ADA.password });
    const pendingLogins = 'pendingLogin' in pending ? [pending.pendingLogin] : expect.unreachable();
    return () => finishLogin(ada.app)({ pendingLogins, factor: { code: code() } });
  },
  'a passkey': async (ada) => {
    const credential = await withPasskey(ada);
    return () => logInWithPasskey(ada.app)({ credential: credential() });
  },
  'a refresh':
    async ({ app, session }) =>
    () =>
      refresh(app)([session.refreshToken]),
  'a refresh that gets the current token again': async (ada) => {
    await ada.app.refresh([ada.session.refreshToken]);
    return () => refresh(replaying(ada))([ada.session.refreshToken]);
  },
  'a navigation':
    async ({ app, session }) =>
    () =>
      tokensOf(continueNavigation(app)([session.refreshToken])),
  'a navigation after a refresh': async ({ app, session }) => {
    const { refreshToken } = await app.refresh([session.refreshToken]);
    return () => tokensOf(continueNavigation(app)([refreshToken]));
  },
  'a server that renders a page':
    async ({ app, session }) =>
    () =>
      mintAccessToken(app)([session.refreshToken]),
  'a step-up':
    async ({ app, request }) =>
    () =>
      stepUp(app)({ ...request(), factor: { password: ADA.password }, presented: { proof: null } }),
  'a new password':
    async ({ app, request }) =>
    () =>
      changePassword(app)({ ...request(), currentPassword: ADA.password, newPassword: 'staple battery' }),
  'the end of other sessions':
    async ({ app, caller, session }) =>
    () =>
      endOtherSessions(app)({ ...caller, presented: [session.refreshToken] }),
  'a new address': async ({ app, caller, request, userId }) => {
    await requestEmailChange(app)({ ...request(), password: ADA.password, email: 'new@example.org' });
    const token = tokenIn((await app.sendAll()).at(-1) ?? { text: 'nothing' }, 'email-change');
    const session = { id: caller.sessionId, userId };
    return () => confirmEmailChange(app)({ token, session });
  },
};

/** Rejects without tokens: a navigation says by its result that it has none. */
const tokensOf = async (work: ReturnType<ReturnType<typeof continueNavigation>>) => {
  const result = await work;
  if (result.next !== 'target') throw new Error(result.next);
  return result;
};

const CASES = Object.entries(WAYS);

describe('tokens', () => {
  it.each(CASES)('are for an enabled user: %s', async (_what, prepare) => {
    const ada = await setUp();
    const take = await prepare(ada);
    await take();
  });

  it.each(CASES)('are not for a disabled one: %s', async (_what, prepare) => {
    const ada = await setUp();
    const take = await prepare(ada);
    const now = ada.app.clock.now();
    await ada.app.users.update(ada.userId, { disabledAt: now, now });
    await expect(take()).rejects.toThrow();
  });

  it('are refused by the step itself, whatever its caller has asked', async () => {
    const { app, userId, session } = await setUp();
    const stored = (await app.sessions.find({ id: session.sessionId, userId })) ?? expect.unreachable();
    const user = (await app.users.findById(userId)) ?? expect.unreachable();
    for (const refused of [null, { ...user, disabledAt: 1 }])
      for (const issue of [issueAccessToken, issueTokenPair])
        await expect(issue(app, refused, stored, app.clock.now(), undefined)).rejects.toMatchObject({
          code: 'AUTH_FAILED',
        });
  });
});

/** With a hook from now on. @returns its calls, and whether each was made in a transaction. */
const withHook = ({ app }: Pick<Ada, 'app'>, hook: NonNullable<Hooks['claims']>) => {
  const calls: { user: unknown; session: unknown; isInTransaction: boolean }[] = [];
  const { run } = app.transactions;
  let running = 0;
  const observe = vi.fn();
  Object.assign(app, {
    transactions: {
      run: (work: Parameters<typeof run>[0]) => {
        running += 1;
        return run(work).finally(() => {
          running -= 1;
        });
      },
    },
    claims: limitedClaims((user, session) => {
      calls.push({ user, session, isInTransaction: running > 0 });
      return hook(user, session);
    }, observe),
  });
  return { calls, observe };
};

const claimsOf = async ({ app }: Pick<Ada, 'app'>, result: unknown) => {
  const { opened = result } = Object(result);
  const verified = await app.authenticate(typeof opened === 'string' ? opened : Object(opened).accessToken);
  return verified.ok ? verified.token.claims : expect.unreachable(verified.reason);
};

const NUMBER = expect.any(Number);
/** What is presented on those ways that take more than the password. */
const AMR: Readonly<Record<string, string[]>> = {
  'a second factor': ['pwd', 'otp', 'mfa'],
  'a passkey': ['pop', 'user', 'mfa'],
};
const UNAVAILABLE = { code: 'SYS_HOOK_UNAVAILABLE', retryAfter: 5 };
const fail = () => Promise.reject(new Error('down'));

describe('a hook of claims', () => {
  it.each(CASES)('is asked before %s, outside of transactions, and gets no secret', async (what, prepare) => {
    const ada = await setUp();
    const attributes = { plan: 'trial', team: 'red' };
    await ada.app.users.update(ada.userId, { attributes, now: ada.app.clock.now() });
    const take = await prepare(ada);
    const { calls } = withHook(ada, () => ({ plan: 'paid', roles: ['editor'] }));
    const claims = await claimsOf(ada, await take());
    expect(claims.attributes).toEqual({ plan: 'paid', team: 'red', roles: ['editor'] });
    const email = what === 'a new address' ? 'new@example.org' : 'ada@example.org';
    expect(calls).toEqual([
      {
        user: {
          ...{ id: ada.userId, username: 'Ada', email, emailVerified: what === 'a new address' },
          ...{ locale: null, attributes },
        },
        session: {
          ...{ id: expect.any(String), amr: AMR[what] ?? ['pwd'], authenticatedAt: NUMBER },
          ...{ knownAt: NUMBER, heldAt: AMR[what] ? NUMBER : null },
        },
        isInTransaction: false,
      },
    ]);
  });

  it.each(CASES)('that fails changes nothing, and the same is done later: %s', async (_what, prepare) => {
    const ada = await setUp();
    const take = await prepare(ada);
    const before = await ada.ofAda();
    withHook(ada, fail);
    await expect(take()).rejects.toMatchObject(UNAVAILABLE);
    expect(await ada.ofAda()).toEqual(before);
    withHook(ada, () => ({ roles: [] }));
    expect((await claimsOf(ada, await take())).attributes).toEqual({ roles: [] });
  });

  it('decides about registrations, too', async () => {
    const { app, ...ada } = await setUp();
    const bob = { username: 'Bob', email: 'bob@example.org', password: 'staple battery' };
    withHook({ app }, fail);
    await expect(register(app)(bob)).rejects.toMatchObject(UNAVAILABLE);
    expect(await app.users.findByUsername('Bob')).toBeNull();
    withHook({ app }, ({ username }) => ({ is: username }));
    expect((await claimsOf({ app, ...ada }, await register(app)(bob))).attributes).toEqual({ is: 'Bob' });
  });

  it('lets one of two refreshes win, and answers the other again within the replay window', async () => {
    const ada = await setUp();
    const { calls } = withHook(ada, () => ({ roles: [] }));
    const token = ada.session.refreshToken;
    const [first, second] = await Promise.all([refresh(replaying(ada))([token]), refresh(replaying(ada))([token])]);
    expect(second.refreshToken).toBe(first.refreshToken);
    expect((await claimsOf(ada, second)).attributes).toEqual({ roles: [] });
    expect(calls.length).toBeGreaterThan(1);
    ada.app.clock.advance(MINUTE);
    const renewed = await refresh(replaying(ada))([first.refreshToken]);
    expect(renewed.refreshToken).not.toBe(first.refreshToken);
  });

  it('that fails for a refresh whose answer was lost leaves both tokens as they are', async () => {
    const ada = await setUp();
    const { refreshToken } = await ada.app.refresh([ada.session.refreshToken]);
    withHook(ada, fail);
    await expect(refresh(replaying(ada))([ada.session.refreshToken])).rejects.toMatchObject(UNAVAILABLE);
    withHook(ada, () => ({}));
    expect(await refresh(replaying(ada))([ada.session.refreshToken])).toMatchObject({ refreshToken });
    await refresh(ada.app)([refreshToken]);
  });

  it('is not asked for a token that may not be renewed', async () => {
    const ada = await setUp();
    await ada.app.refresh([ada.session.refreshToken]);
    const { calls } = withHook(ada, () => ({}));
    ada.app.clock.advance(MINUTE);
    await expect(refresh(ada.app)([ada.session.refreshToken])).rejects.toMatchObject({ code: 'AUTH_FAILED' });
    expect(calls).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { confirmEmailChange, requestEmailChange } from '../../../src/application/accounts/change-email.ts';
import { finishLogin } from '../../../src/application/factors/finish-login.ts';
import { confirmApp, startApp } from '../../../src/application/factors/manage-factors.ts';
import { addPasskey, invitePasskey } from '../../../src/application/factors/manage-passkeys.ts';
import { stepUp } from '../../../src/application/factors/step-up.ts';
import { logInWithPasskey, passkeyChallenge } from '../../../src/application/factors/use-passkey.ts';
import { login } from '../../../src/application/login/login.ts';
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
  const { app, user, session } = await registeredAda();
  const userId = user.id;
  const caller = { userId, sessionId: session.sessionId };
  const request = () => ({ ...caller, tokenIssuedAt: app.clock.now() / SECOND });
  return { app, userId, session, caller, request };
};
type Ada = Awaited<ReturnType<typeof setUp>>;

const replaying = ({ app }: Ada) => ({ ...app, replayPolicy: { raceWindow: 10 * SECOND, replayWindow: 10 * SECOND } });

const withApp = async ({ app, caller, request }: Ada) => {
  const { id, secret } = await startApp(app, app.secrets.factors)(caller);
  await confirmApp(app)({ ...request(), id, code: codeAt(secret, app.clock.now()) });
  app.clock.advance(MINUTE);
  return () => codeAt(secret, app.clock.now());
};

const withPasskey = async ({ app, caller }: Ada) => {
  const key = authenticator({ rpId: 'localhost', origin: 'http://localhost' });
  const { challenge, userHandle } = await invitePasskey(app)(caller);
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
      app.refresh([session.refreshToken]),
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
      app.changePassword({ ...request(), currentPassword: ADA.password, newPassword: 'staple battery' }),
  'the end of other sessions':
    async ({ app, caller, session }) =>
    () =>
      app.endOtherSessions({ ...caller, presented: [session.refreshToken] }),
  'a new address': async ({ app, caller, request, userId }) => {
    await requestEmailChange(app)({ ...request(), password: ADA.password, email: 'new@example.org' });
    const token = tokenIn((await app.sendAll()).at(-1) ?? { text: 'nothing' }, 'email-change');
    const session = { id: caller.sessionId, userId };
    return () => confirmEmailChange(app)({ token, session });
  },
};

/** Rejects without tokens: a navigation says by its result that it has none. */
const tokensOf = async (work: ReturnType<ReturnType<typeof continueNavigation>>) => {
  const { next } = await work;
  if (next !== 'target') throw new Error(next);
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
        await expect(issue(app, refused, stored, app.clock.now())).rejects.toMatchObject({ code: 'AUTH_FAILED' });
  });
});

import { expect } from 'vitest';
import { exportAccount } from '../../../src/application/accounts/account-data.ts';
import { logOperatorEvents } from '../../../src/application/accounts/operate-accounts.ts';
import { purges, removeMassEnded } from '../../../src/application/sessions/purge.ts';
import type { Storage } from '../../../src/application/storage/records.ts';
import { authenticator } from '../authenticator.ts';
import { codeAt } from '../authenticator-app.ts';
import { browserKey } from '../browser-key.ts';
import { fixedClock } from '../fixed-clock.ts';
import { ALL_ROUTES, PAGE_SERVER } from '../http/all-routes.ts';
import { APP_LINK } from '../http/app-login.ts';
import { WITH_OFFICE } from '../http/back-office.ts';
import { sampleBody } from '../http/samples.ts';
import { aPerson, cookiePair, declaredRoutes, type Own, refreshCookieOf, type TestService } from '../http/service.ts';
import { memoryMailer } from '../mail/memory-mailer.ts';
import { CLIENT, startProvider } from '../oidc/provider.ts';
import { WAYS } from './ways.ts';
import type { OwnedAccount, Parts } from './world.ts';

const ORIGIN = 'https://auth.example.org';
const STEP = 30_000;
const WEEK = 7 * 86_400_000;

export type UseCaseServices = Readonly<Record<'usual' | 'addresses first' | 'factors required', Parts>>;
type Open = (env: Readonly<Record<string, string>>, own: Own) => Promise<TestService>;

/** Starts services over one storage that together have every use case. */
export const startUseCases = async (open: Open, storage: Storage): Promise<UseCaseServices> => {
  const parts = {
    clock: fixedClock(Date.UTC(2026, 0, 1, 12)),
    mailer: memoryMailer(),
    provider: await startProvider(),
  };
  const { LOGIN_PAGE_URL: _page, ...routes } = ALL_ROUTES;
  const others = Object.entries(routes).filter(([name]) => !name.startsWith('OIDC_'));
  const env = {
    ...{ ...Object.fromEntries(others), ...WITH_OFFICE, APP_LINKS: APP_LINK },
    ...{ REDIS_URL: '', OIDC_PROVIDERS: 'acme', OIDC_ACME_ISSUER: parts.provider.issuer },
    ...{ OIDC_ACME_CLIENT_ID: CLIENT.id, OIDC_ACME_CLIENT_SECRET: CLIENT.secret },
  };
  const start = async (more: Readonly<Record<string, string>> = {}): Promise<Parts> => ({
    ...parts,
    service: await open({ ...env, ...more }, { storage, clock: parts.clock, mailer: parts.mailer }),
  });
  return {
    usual: await start(),
    'addresses first': await start({ EMAIL_VERIFICATION: 'required' }),
    'factors required': await start({ SECOND_FACTOR: 'required' }),
  };
};

/** An act that a test repeats: the same request each time, or a background task. */
export type Act = () => PromiseLike<unknown>;
type Prepare = (world: OwnedAccount) => Act | Promise<Act>;
export type Case = {
  readonly prepare: Prepare;
  readonly by?: keyof UseCaseServices;
  readonly isProven?: boolean;
  /** The changes that may remain when a statement fails, besides none and all. */
  readonly between?: readonly string[];
};

const office =
  (...[method, path, body]: Parameters<OwnedAccount['office']>): Prepare =>
  ({ office: send, account }) =>
  () =>
    send(method, path.replace(':id', account.id), body);
const mine =
  (...[method, path, body]: Parameters<OwnedAccount['me']>): Prepare =>
  ({ me }) =>
  () =>
    me(method, path, body);
const post =
  (path: string, bodyFor: (account: OwnedAccount['account']) => object): Prepare =>
  ({ service, account }) => {
    const body = bodyFor(account);
    return () => service.http.post(path).send(body);
  };
const use =
  (way: keyof typeof WAYS): Prepare =>
  async (world) =>
    (await WAYS[way](world, false)).works;
const remove =
  (way: keyof typeof WAYS): Prepare =>
  async (world) =>
    (await WAYS[way](world, false)).remove ?? expect.unreachable(way);
const lastOf = async ({ me }: OwnedAccount, list: string) => (await me('get', list).expect(200)).body.data.at(-1).id;
const enterAgain = async (world: OwnedAccount) => cookiePair(refreshCookieOf(await world.logIn()));
const startedApp = async ({ me, clock }: OwnedAccount) => {
  const { id, secret } = (await me('post', '/users/me/factors/totp').expect(201)).body.data;
  return { id, code: codeAt(secret, clock.now()) };
};
/** Adds the first passkey of a user. @returns the recovery codes that the user gets with it */
const firstPasskey = async ({ http }: TestService, accessToken: string): Promise<string[]> => {
  const send = (path: string, body = {}) => http.post(path).set('Authorization', `Bearer ${accessToken}`).send(body);
  const key = authenticator({ rpId: 'auth.example.org', origin: ORIGIN });
  const credential = key.create((await send('/users/me/passkeys/options').expect(200)).body.data);
  return (await send('/users/me/passkeys', { credential }).expect(201)).body.data.recoveryCodes;
};
const textsIn = (header: unknown) => [...String(header).matchAll(/"([^"]*)"/g)].map(([, text = '']) => text);
/** Begins a sign-in at a provider. The act returns from the provider, and may be repeated. */
const backFrom =
  (path = '/auth/oidc/acme', isKnown = false): Prepare =>
  async ({ begin, cameBack }) => {
    const who = { sub: crypto.randomUUID(), email: aPerson().email, email_verified: true };
    if (isKnown) await cameBack(await begin(who), who);
    const begun = await begin(who, path);
    return () => cameBack(begun, who);
  };
/** A begun sign-in can end only once, whatever its result is. */
const ONCE = { between: ['usedValues +1', 'endedSessions +2,usedValues +1,deliveries +5'] };
/** A rotation that is taken back increments the session's `rotation` (ADR 0003). */
const TAKEN_BACK = {
  between: [
    'sessions previousTokenId rotation',
    'sessions previousTokenId rotation userAgent',
    'sessions burstStartedAt expiresAt previousTokenId rotatedAt rotation userAgent',
  ],
};

const useCaseName = (route: string): string =>
  route === 'change-current-user' ? 'changeLocale' : route.replaceAll(/-(\w)/g, (_, letter) => letter.toUpperCase());
/** The requests of a user that need no preparation, made from the declared routes with the tag `users`. */
const REQUESTS = (await declaredRoutes())
  .filter(({ tag, method, path }) => tag === 'users' && method !== 'GET' && !path.includes(':'))
  .map(
    (route) =>
      [useCaseName(route.name), mine(route.method.toLowerCase() as 'post', route.path, sampleBody(route))] as const,
  );

/** How to prepare each use case, by its name in `src/application`. */
export const USE_CASES: Readonly<Record<string, Case | Prepare>> = {
  ...Object.fromEntries(REQUESTS),
  // If it is unknown whether the session was stored, the service ends it (ADR 0003).
  register: { prepare: post('/auth/register', aPerson), between: ['endedSessions +2,deliveries +3'] },
  'register, by an invitation': { prepare: use('invitation'), isProven: false },
  registerUnverified: { prepare: post('/auth/register', aPerson), by: 'addresses first' },
  'registerUnverified, with the address of an account': {
    prepare: post('/auth/register', ({ email }) => ({ ...aPerson(), email })),
    by: 'addresses first',
  },
  registerPending: {
    prepare: post('/auth/register', aPerson),
    ...{ by: 'factors required', between: ['endedSessions +1,deliveries +2'] },
  },
  login: ({ logIn }) => logIn,
  'login, by a recovery code': async ({ service }) => {
    const { email } = aPerson();
    const { accessToken } = (await service.http.post('/auth/register').send({ email }).expect(201)).body.data;
    const codes = await firstPasskey(service, accessToken);
    return () => service.http.post('/auth/login').send({ account: email, password: codes[0] });
  },
  adopt: use('adoption'),
  requestLoginCode: post('/auth/login/code', ({ email }) => ({ account: email })),
  logInWithCode: { prepare: use('mail-code'), between: ['usedValues +1'] },
  logInWithPasskey: use('passkey'),
  logInWithAppCode: use('app-code'),
  finishLogin: async (world) => {
    await WAYS.app(world, false);
    const pending = world.cookiesOf(await world.logIn());
    const code = codeAt(world.account.secrets.at(-1) ?? '', world.clock.now());
    return () => world.showFactor(pending, { code, remember: true });
  },
  startPendingApp: {
    by: 'factors required',
    prepare: async ({ service, cookiesOf }) => {
      const pending = cookiesOf(await service.http.post('/auth/register').send(aPerson()).expect(202));
      return () => service.http.post('/auth/login/pending/totp').set('Cookie', pending).send({});
    },
  },
  finishAtProvider: { prepare: backFrom(), ...ONCE },
  signIn: { prepare: backFrom('/auth/oidc/acme', true), ...ONCE },
  linkIdentity: { prepare: backFrom('/auth/oidc/acme/link'), ...ONCE },
  linkKeptIdentities: {
    // The log-in succeeds even if linking the identity fails.
    between: ['sessions +1,events +1,links +1,outbox +1,deliveries +1,webhookSequences sequence'],
    prepare: async ({ account: { email, password }, begin, cameBack, cookiesOf, service }) => {
      const who = { sub: crypto.randomUUID(), email, email_verified: true };
      const kept = cookiesOf(await cameBack(await begin(who), who));
      return () => service.http.post('/auth/login').set('Cookie', kept).send({ account: email, password });
    },
  },
  unlinkIdentity: remove('identity'),
  refresh: {
    ...TAKEN_BACK,
    prepare: ({ service, account, clock }) => {
      clock.advance(STEP);
      return () => service.http.post('/auth/refresh-token').set('Cookie', account.cookie);
    },
  },
  continueNavigation: {
    ...TAKEN_BACK,
    prepare: ({ service, account }) => {
      const headers = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document', Cookie: account.cookie };
      return () =>
        service.http
          .get('/auth/continue')
          .query({ to: `${ORIGIN}/x` })
          .set(headers);
    },
  },
  mintAccessToken: ({ service, account }) => {
    const headers = { Authorization: PAGE_SERVER, Cookie: account.cookie };
    return () => service.http.post('/auth/access-token').set(headers);
  },
  renewBrowser: async ({ service, account }) => {
    const [browser, body] = [browserKey(), { account: account.email, password: account.password }];
    const opened = await service.http.post('/auth/login').send(body).expect(200);
    const [, challenge = '', authorization = ''] = textsIn(opened.get('Secure-Session-Registration'));
    const send = (headers: Record<string, string>) => service.http.post('/auth/device').set(headers);
    const proof = { 'Secure-Session-Response': browser.registration(challenge, authorization) };
    const id = String((await send(proof).expect(200)).body.session_identifier);
    const of = { Cookie: cookiePair(refreshCookieOf(opened)), 'Sec-Secure-Session-Id': id };
    const [asked = ''] = textsIn((await send(of).expect(403)).get('Secure-Session-Challenge'));
    return () => send({ ...of, 'Secure-Session-Response': browser.renewal(asked) });
  },
  logout:
    ({ service, account }) =>
    () =>
      service.http.get('/auth/clear-cookie').set('Cookie', account.cookie),
  endOwnSession: remove('session'),
  endAllSessions: async (world) => {
    await enterAgain(world);
    return () => world.me('delete', '/auth/sessions');
  },
  endOtherSessions: async (world) => {
    await enterAgain(world);
    return () => world.me('delete', '/auth/sessions?except=current');
  },
  stepUp: {
    prepare:
      ({ me, account }) =>
      () =>
        me('post', '/auth/step-up', { password: account.password }),
    // The session is stepped up, but its token may not have been replaced.
    between: ['events +1', ...TAKEN_BACK.between.map((each) => `${each},events +1`)],
  },
  startApp: mine('post', '/users/me/factors/totp'),
  confirmApp: async (world) => {
    const app = await startedApp(world);
    return () => world.me('post', '/users/me/factors/totp/confirm', app);
  },
  makeRecoveryCodes: async (world) => {
    await WAYS.app(world, false);
    return () => world.me('post', '/users/me/factors/recovery-codes');
  },
  removeApp: remove('app'),
  addPasskey: async ({ me }) => {
    const key = authenticator({ rpId: 'auth.example.org', origin: ORIGIN });
    const credential = key.create((await me('post', '/users/me/passkeys/options').expect(200)).body.data);
    return () => me('post', '/users/me/passkeys', { credential });
  },
  renamePasskey: async (world) => {
    await WAYS.passkey(world, false);
    const { passkeys } = (await world.me('get', '/users/me/factors').expect(200)).body.data;
    return () => world.me('patch', `/users/me/passkeys/${passkeys[0].id}`, { name: 'Another' });
  },
  removePasskey: remove('passkey'),
  changePassword:
    ({ me, account }) =>
    () =>
      me('put', '/users/me/password', { currentPassword: account.password, newPassword: 'the next battery' }),
  requestPasswordReset: post('/auth/password-reset', ({ email }) => ({ email })),
  resetPassword: use('password-reset'),
  requestEmailVerification: { prepare: post('/auth/email-verification', ({ email }) => ({ email })), isProven: false },
  confirmEmail: { prepare: use('email-verification'), isProven: false },
  removeUnverifiedAccount: { prepare: use('not-me'), isProven: false },
  requestConfirmationCode: mine('post', '/users/me/code'),
  requestEmailChange:
    ({ me, account }) =>
    () =>
      me('put', '/users/me/email', { email: account.other, password: account.password }),
  confirmEmailChange: async ({ askForAddress, account, confirmLink }) => {
    const token = await askForAddress(account.other);
    const headers = { Authorization: `Bearer ${account.accessToken}`, Cookie: account.cookie };
    return () => confirmLink('/auth/email-change/confirm', token).set(headers);
  },
  takeAccountBack: use('email-change-undo'),
  'takeAccountBack, of factors': use('factors-undo'),
  changeUsername: mine('put', '/users/me/username', { username: 'Another.name' }),
  // This calls the use case directly, because over HTTP a user may export only a few times.
  exportAccount: async (world) => {
    const caller = { userId: world.account.id, sessionId: await lastOf(world, '/auth/sessions') };
    return () => exportAccount(world.service.deps)(caller);
  },
  deleteAccount:
    ({ me, account }) =>
    () =>
      me('delete', '/users/me', { password: account.password }),
  invite: office('post', '/invitations', { email: 'invited@example.org' }),
  revokeInvitation: async (world) => {
    await world.office('post', '/invitations', { email: 'not.invited@example.org' });
    return () => world.office('delete', '/invitations', { email: 'not.invited@example.org' });
  },
  createAccount: office('post', '/users', { email: 'created@example.org', sendLink: true }),
  setEmail: office('put', '/users/:id/email', { email: 'returned@example.org', final: true }),
  resendVerification: { prepare: office('post', '/users/:id/email/resend'), isProven: false },
  disableAccount: office('post', '/users/:id/disable'),
  enableAccount: async (world) => {
    await world.office('post', `/users/${world.account.id}/disable`);
    return () => world.office('post', `/users/${world.account.id}/enable`);
  },
  setAttributes: office('put', '/users/:id/attributes', { attributes: { level: 1 } }),
  endSessionsAsOperator: office('delete', '/users/:id/sessions'),
  endSessionAsOperator: async (world) => {
    const id = await lastOf(world, '/auth/sessions');
    return () => world.office('delete', `/users/${world.account.id}/sessions/${id}`);
  },
  unlinkIdentityAsOperator: async (world) => {
    await WAYS.identity(world, false);
    const id = await lastOf(world, '/users/me/identities');
    return () => world.office('delete', `/users/${world.account.id}/identities/${id}`);
  },
  unlockAccount: office('post', '/users/:id/unlock'),
  removeFactorsAsOperator: async (world) => {
    await WAYS.app(world, false);
    await WAYS.passkey(world, false);
    return () => world.office('delete', `/users/${world.account.id}/factors`);
  },
  makeResetLink: office('post', '/users/:id/reset-link', { handOver: true }),
  mailResetLink: office('post', '/users/:id/reset-link'),
  deleteAccountAsOperator: office('delete', '/users/:id'),
  endEverySession: {
    prepare: office('delete', '/sessions', { reason: 'an incident' }),
    between: ['endedSessions +1,massEndings +1'],
  },
  removeMassEnded: async (world) => {
    await world.office('delete', '/sessions', { reason: 'an incident' });
    return () => removeMassEnded(world.service.deps)(100);
  },
  logOperatorEvents: async (world) => {
    await world.office('post', `/users/${world.account.id}/disable`);
    return () => logOperatorEvents(world.service.deps)(100);
  },
  purges: ({ service, clock }) => {
    clock.advance(60 * WEEK);
    return () => purges({ ...service.deps, eventsRetention: WEEK, jwtAccessExpiresIn: 0 }).sessions(100);
  },
};

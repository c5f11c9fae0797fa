import { globSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { storageOver } from '../../src/adapters/records/storage.ts';
import { exportAccount } from '../../src/application/accounts/account-data.ts';
import { logOperated } from '../../src/application/accounts/operate-accounts.ts';
import { removeEnded } from '../../src/application/sessions/end-all.ts';
import { purges } from '../../src/application/sessions/purge.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { authenticator } from '../support/authenticator.ts';
import { codeAt } from '../support/authenticator-app.ts';
import { browserKey } from '../support/browser-key.ts';
import { aWebhook } from '../support/builders.ts';
import { ROOT } from '../support/checkout/repository.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import { closedServices } from '../support/http/account.ts';
import { ALL_ROUTES, PAGE_SERVER } from '../support/http/all-routes.ts';
import { APP_LINK } from '../support/http/app-login.ts';
import { WITH_OFFICE } from '../support/http/back-office.ts';
import { aPerson, cookiePair, refreshCookieOf } from '../support/http/service.ts';
import { memoryMailer } from '../support/mail/memory-mailer.ts';
import { CLIENT, startProvider } from '../support/oidc/provider.ts';
import { changesBetween, type Fault, failingRecords } from '../support/records/failing.ts';
import { brokenRules } from '../support/records/rules.ts';
import { WAYS } from '../support/ways-in/ways.ts';
import { type OwnedAccount, ownedAccount, type Parts } from '../support/ways-in/world.ts';

const ORIGIN = 'https://auth.example.org';
const STEP = 30_000;
const WEEK = 7 * 86_400_000;
const database = failingRecords();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const mailer = memoryMailer();
const provider = await startProvider();
const open = closedServices();
const services = {} as Record<'usual' | 'addresses first' | 'factors required', Parts>;
beforeAll(async () => {
  const start = async (more: Readonly<Record<string, string>>) => {
    const { LOGIN_PAGE_URL: _page, ...routes } = ALL_ROUTES;
    const others = Object.entries(routes).filter(([name]) => !name.startsWith('OIDC_'));
    const env = {
      ...{ ...Object.fromEntries(others), ...WITH_OFFICE, APP_LINKS: APP_LINK },
      ...{ REDIS_URL: '', OIDC_PROVIDERS: 'acme', OIDC_ACME_ISSUER: provider.issuer },
      ...{ OIDC_ACME_CLIENT_ID: CLIENT.id, OIDC_ACME_CLIENT_SECRET: CLIENT.secret },
    };
    const storage = storageOver(database.records);
    return { service: await open({ ...env, ...more }, { storage, clock, mailer }), clock, mailer, provider };
  };
  services.usual = await start({});
  services['addresses first'] = await start({ EMAIL_VERIFICATION: 'required' });
  services['factors required'] = await start({ SECOND_FACTOR: 'required' });
});
beforeEach(async () => {
  database.fail(null);
  database.restore(new Map());
  await services.usual.service.ports.webhooks.add(aWebhook());
});
afterAll(provider.close);

/** What is done again and again: a request, the same each time, or a task of the background. */
type Act = () => PromiseLike<unknown>;
type Prepare = (world: OwnedAccount) => Act | Promise<Act>;
type Case = {
  readonly prepare: Prepare;
  readonly by?: keyof typeof services;
  readonly isProven?: boolean;
  /** What may be left when a statement fails, besides nothing and everything. */
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
const startedApp = async ({ me }: OwnedAccount) => {
  const { id, secret } = (await me('post', '/users/me/factors/totp').expect(201)).body.data;
  return { id, code: codeAt(secret, clock.now()) };
};
const textsIn = (header: unknown) => [...String(header).matchAll(/"([^"]*)"/g)].map(([, text = '']) => text);
/** Somebody has begun a sign-in, and comes back as often as it is asked for. */
const backFrom =
  (path = '/auth/oidc/acme', isKnown = false): Prepare =>
  async ({ begin, cameBack }) => {
    const who = { sub: crypto.randomUUID(), email: aPerson().email, email_verified: true };
    if (isKnown) await cameBack(await begin(who), who);
    const begun = await begin(who, path);
    return () => cameBack(begun, who);
  };
/** A sign-in that was begun ends once, whatever comes of it. */
const ONCE = { between: ['usedValues +1', 'endedSessions +2,usedValues +1,deliveries +5'] };
/** A rotation that is taken back has a number (ADR 0003). */
const TAKEN_BACK = {
  between: [
    'sessions previousTokenId rotation',
    'sessions previousTokenId rotation userAgent',
    'sessions burstStartedAt expiresAt previousTokenId rotatedAt rotation userAgent',
  ],
};

/** By the names of the application. */
const USE_CASES: Readonly<Record<string, Case | Prepare>> = {
  // When nobody knows whether it was kept, it is taken back (ADR 0003).
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
  adopt: use('adoption'),
  requestLoginCode: post('/auth/login/code', ({ email }) => ({ account: email })),
  logInWithCode: { prepare: use('mail-code'), between: ['usedValues +1'] },
  logInWithPasskey: use('passkey'),
  logInWithAppCode: use('app-code'),
  finishLogin: async (world) => {
    await WAYS.app(world, false);
    const pending = world.cookiesOf(await world.logIn());
    const code = codeAt(world.account.secrets.at(-1) ?? '', clock.now());
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
  linkKept: {
    // The log-in has succeeded, whatever becomes of the identity.
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
    prepare: ({ service, account }) => {
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
  stepUp:
    ({ me, account }) =>
    () =>
      me('post', '/auth/step-up', { password: account.password }),
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
  changeLocale: mine('patch', '/users/me', { locale: 'de' }),
  // Not over HTTP, where a user has few of them.
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
  // It is stated twice.
  'end-all endAllSessions': {
    prepare: office('delete', '/sessions', { reason: 'an incident' }),
    between: ['endedSessions +1,massEndings +1'],
  },
  removeEnded: async (world) => {
    await world.office('delete', '/sessions', { reason: 'an incident' });
    return () => removeEnded(world.service.deps)(100);
  },
  logOperated: async (world) => {
    await world.office('post', `/users/${world.account.id}/disable`);
    return () => logOperated(world.service.deps)(100);
  },
  purges: ({ service }) => {
    clock.advance(60 * WEEK);
    return () => purges({ ...service.deps, eventsRetention: WEEK, accessLifetime: 0 }).sessions(100);
  },
};
const useCaseOf = (name: string): string => name.split(',')[0] ?? name;
/** They change nothing but the number of an authorization. */
const READ_ONLY =
  /^(?:(?:list|count|show|preview|find)\w+|notifiesFormerAddress|getCurrentUser|identifyVisitor|authenticate|exportAccountAsOperator)$/;
/** Parts of other use cases. */
const PARTS =
  /^(?:seal|unseal|expiryOf|codeFor|hashOfCode|newConfirmationCode|assertLive|assertSteppedUp|applicantOf|providerOf|openStarts|startAtProvider|makeBindingCode|makeAppCode|inviteBrowser|registerBrowser|invitePasskey|passkeyChallenge|refusedLoginCounter|recordUnprovenDevice|reportRefusal|registration)$/;
/** They are repeated in the background until they succeed, one by one: test/simulation. The command goes on where it has stopped. */
const ONE_BY_ONE = /^(?:sendMessages|deliverWebhooks|reEncryptFactors)$/;

/** What was kept without an answer, and is refused when it is asked for again: its link, its code or its row is gone. */
const USED_UP = [
  ...[
    'register, by an invitation',
    'logInWithCode',
    'logInWithAppCode',
    'finishLogin',
    'finishAtProvider',
    'signIn',
    'linkIdentity',
    'unlinkIdentity',
  ],
  ...['endOwnSession', 'endAllSessions', 'confirmApp', 'removeApp', 'addPasskey', 'removePasskey', 'resetPassword'],
  ...['confirmEmail', 'removeUnverifiedAccount', 'takeAccountBack', 'deleteAccount', 'revokeInvitation'],
  ...['createAccount', 'endSessionAsOperator', 'unlinkIdentityAsOperator', 'deleteAccountAsOperator'],
];

it('every use case of the application is here', () => {
  const exported = globSync(`${ROOT}src/application/**/*.ts`, { exclude: ['**/ports/**'] }).flatMap((file) =>
    [
      ...readFileSync(file, 'utf8').matchAll(
        /^export const (\w+) =\s+\((?:deps|\{[^}]*\}): [^()]*?\)(?:: [^=]+?)? =>/gm,
      ),
    ].map(([, name = '']) => (file.endsWith('end-all.ts') && name === 'endAllSessions' ? `end-all ${name}` : name)),
  );
  const others = exported.filter((name) => ![READ_ONLY, PARTS, ONE_BY_ONE].some((each) => each.test(name)));
  expect(others.toSorted()).toEqual([...new Set(Object.keys(USE_CASES).map(useCaseOf))].toSorted());
});

type Outcome = { readonly isDone: boolean; readonly code: string | null };

const outcomeOf = async (act: Act): Promise<Outcome> => {
  try {
    const answer = Object(await act());
    if (answer.status === undefined) return { isDone: answer.valueOf() !== false, code: null };
    const { searchParams } = new URL(answer.headers.location ?? '', ORIGIN);
    const code: string | null = searchParams.get('error') ?? answer.body?.code ?? null;
    return { isDone: answer.status < 400 && searchParams.get('error') === null, code };
  } catch (error) {
    return { isDone: false, code: error instanceof AppError ? error.code : null };
  }
};

/** Without what shows that an operator's assertion was used: each request has another one. */
const contents = () => {
  const all = new Map(database.contents());
  return all.set('usedValues', all.get('usedValues')?.filter(({ id }) => !String(id).startsWith('operator ')) ?? []);
};

const wrongRows = (wrong: (...what: [string, ...string[]]) => unknown): void => {
  const [first, ...others] = brokenRules(contents());
  if (first !== undefined) wrong(first, ...others);
};

describe('when a statement fails, nothing is done or everything, and the request can be repeated:', () => {
  it.each(Object.entries(USE_CASES))('%s', async (name, given) => {
    const {
      prepare,
      by = 'usual',
      isProven = true,
      between = [],
    } = typeof given === 'function' ? { prepare: given } : given;
    const act = await prepare(
      await ownedAccount(services.usual, { isProven }).then((world) => ({ ...world, ...services[by] })),
    );
    const before = database.contents();
    const start = contents();
    const changes = () => changesBetween(start, contents());
    expect(brokenRules(start)).toEqual([]);
    expect(await outcomeOf(act)).toMatchObject({ isDone: true });
    const everything = changes();
    const problems: unknown[] = [];
    for (const how of ['refused', 'lost'] as const)
      for (let at = 1; ; at += 1) {
        database.restore(before);
        const fault: Fault = { at, how };
        database.fail(fault);
        const first = await outcomeOf(act);
        const left = changes();
        const hasFailed = database.hasFailed();
        database.fail(null);
        if (!hasFailed) break;
        const wrong = (what: string, ...more: unknown[]) => problems.push({ ...fault, what, ...first, left, more });
        const isDone = `${left}` === `${everything}`;
        if (left.length > 0 && !isDone && !between.includes(`${left}`)) wrong('neither nothing nor everything');
        if (first.isDone && left.length === 0 && !isDone) wrong('nothing is done');
        if (!first.isDone && ![null, 'DB_QUERY_FAILED'].includes(first.code)) wrong('another code');
        const hasOpened = how === 'refused' && `${left}`.includes('sessions +');
        if (!first.isDone && hasOpened) wrong('nobody has the session');
        if (database.openUnits() > 0) wrong('a unit is open');
        wrongRows(wrong);
        if (first.isDone) continue;
        const again = await outcomeOf(act);
        const isRepeated = left.length > 0 || `${changes()}` === `${everything}`;
        const mayBeRefused =
          left.length > 0 &&
          [name, useCaseOf(name)].some((each) => USED_UP.includes(each)) &&
          again.code !== 'DB_QUERY_FAILED';
        if (!(again.isDone && isRepeated) && !mayBeRefused) wrong('not repeatable', again, changes());
        wrongRows(wrong);
      }
    database.restore(before);
    expect(problems).toEqual([]);
  });
});

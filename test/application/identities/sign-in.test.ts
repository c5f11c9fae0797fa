// Proves provider-1

import { describe, expect, it } from 'vitest';
import { confirmEmail } from '../../../src/application/accounts/mail-links.ts';
import { removeAccount } from '../../../src/application/accounts/profile.ts';
import { showPendingLogin, startPendingApp } from '../../../src/application/factors/finish-login.ts';
import { confirmApp, startApp } from '../../../src/application/factors/manage-factors.ts';
import { linkIdentity, unlinkIdentity } from '../../../src/application/identities/at-provider.ts';
import { type SignIn, signIn } from '../../../src/application/identities/sign-in.ts';
import type { Service } from '../../../src/application/service.ts';
import { identitiesOf } from '../../../src/application/storage/credentials.ts';
import { IDENTITIES_PER_USER, type VerifiedIdentity } from '../../../src/domain/identity.ts';
import { NO_PASSWORD } from '../../../src/domain/password.ts';
import { EMAIL, NO_DATA, ORIGIN, registeredAda } from '../../support/account.ts';
import { ADA, MINUTE, rejections } from '../../support/application.ts';
import { codeAt } from '../../support/authenticator-app.ts';
import { anIdentity, aPasskey } from '../../support/builders.ts';

const KIM = 'kim@example.org';
const CONFLICT = { code: 'AUTH_IDENTITY_CONFLICT', status: 409 };
const REFUSED = { code: 'AUTH_REGISTRATION_REFUSED' };

const verifiedIdentity = (given: Partial<VerifiedIdentity> = {}): VerifiedIdentity => ({
  issuer: 'https://accounts.example',
  subject: '4711',
  provider: 'acme',
  email: 'Grace@Example.org',
  isEmailVerified: true,
  ...given,
});

/** Ada has registered, and has proven her address or not. */
const setUp = async ({ isProven = true, ...policies }: Partial<Service> & { readonly isProven?: boolean } = {}) => {
  const ada = await registeredAda();
  const { app, user } = ada;
  const deps = { ...app, pause: async () => undefined, ...policies };
  const now = app.clock.now();
  if (isProven) await app.users.update(user.id, { emailVerifiedAt: now, now });
  app.clock.advance(MINUTE);
  const run = signIn(deps);
  const attempt = (given: Partial<VerifiedIdentity> = {}, more: Omit<SignIn, 'identity'> = {}) =>
    run({ identity: verifiedIdentity(given), ...more });
  return {
    ...ada,
    deps,
    attempt,
    /** Signs in without a second factor. */
    enter: async (given: Partial<VerifiedIdentity> = {}, more: Omit<SignIn, 'identity'> = {}) => {
      const result = await attempt(given, more);
      return 'pendingLogin' in result ? expect.unreachable('waits for a second factor') : result;
    },
    identitiesOf: async (userId: string) => (await identitiesOf(app.records, userId)).map(({ subject }) => subject),
    amrOf: async (result: { sessionId: string; user: { id: string } }) =>
      (await app.sessions.find({ id: result.sessionId, userId: result.user.id }))?.amr,
  };
};

describe('an identity whose address has no account', () => {
  it('registers with a derived username and a proven address, and logs in to the same account from then on', async () => {
    const { app, enter, amrOf, about } = await setUp({ emailVerification: 'required' });
    const first = await enter();
    expect(first.user).toMatchObject({ username: 'grace', email: 'grace@example.org' });
    expect(await amrOf(first)).toEqual(['fed']);
    const { events, messages, user } = await about(first.user.id);
    expect(events.map(({ kind }) => kind).toSorted()).toEqual(['email-verified', 'identity-linked', 'registered']);
    expect([messages, user?.emailVerifiedAt]).toEqual([[], app.clock.now()]);
    app.clock.advance(MINUTE);
    // The address at the provider may change, also to that of another account.
    for (const email of [EMAIL, 'new@example.org', null]) {
      expect((await enter({ email })).user).toEqual(first.user);
      const [identity] = await identitiesOf(app.records, first.user.id);
      expect(identity).toMatchObject({ email, lastUsedAt: app.clock.now() });
    }
  });

  it('registers with an address to verify if the provider does not vouch for it', async () => {
    const { enter, about } = await setUp({ emailVerification: 'optional' });
    const { user } = await enter({ isEmailVerified: false });
    const { messages, user: stored } = await about(user.id);
    expect(stored?.emailVerifiedAt).toBeNull();
    expect(messages.map(({ kind }) => kind)).toEqual(['email-verification']);
  });

  it.each<[string, Partial<Service>, Partial<VerifiedIdentity>, object]>([
    ['no address', {}, { email: null }, REFUSED],
    ['an address that no account can have', {}, { email: 'grace' }, REFUSED],
    [
      'an address that has become that of another mailbox in lower case',
      {},
      { email: `\u212a${KIM.slice(1)}` },
      REFUSED,
    ],
    ['invisible characters around the address', {}, { email: `\u200b${KIM}` }, REFUSED],
    [
      'an address that must be proven, and is not',
      { emailVerification: 'required' },
      { isEmailVerified: false },
      REFUSED,
    ],
    [
      'closed registration',
      { registration: { mode: 'closed', domains: [] } },
      {},
      { code: 'AUTH_REGISTRATION_CLOSED' },
    ],
    ['a domain that is not allowed', { registration: { mode: 'open', domains: ['example.com'] } }, {}, REFUSED],
    ['a hook', { beforeRegister: async () => ({ decision: 'refuse', message: 'no' }) }, {}, REFUSED],
  ])('is refused because of %s', async (_reason, policies, given, refusal) => {
    const { app, attempt } = await setUp(policies);
    await expect(attempt(given)).rejects.toMatchObject(refusal);
    expect(await app.users.findByEmail('grace@example.org')).toBeNull();
    expect(await app.users.findByEmail(KIM)).toBeNull();
  });

  it('waits for the first second factor where everybody needs one', async () => {
    const { app, attempt, identitiesOf } = await setUp({ secondFactor: 'required' });
    for (const _ of [1, 2]) expect(await attempt()).toEqual({ pendingLogin: expect.any(String) });
    const user = await app.users.findByEmail('grace@example.org');
    expect(await identitiesOf(user?.id ?? '')).toEqual(['4711']);
  });

  it('makes one account, however many callbacks come at once', async () => {
    const { enter } = await setUp();
    const users = await Promise.all(Array.from({ length: 5 }, async () => (await enter()).user.id));
    expect(new Set(users).size).toBe(1);
  });

  it('registers anew after its account was deleted', async () => {
    const { app, deps, enter, about } = await setUp();
    const { user } = await enter();
    await app.transactions.run((stores) =>
      removeAccount(deps, stores, user.id, { userAgent: null, address: null, requestId: null }),
    );
    expect(await about(user.id)).toEqual(NO_DATA);
    expect((await enter()).user.id).not.toBe(user.id);
  });
});

it.each(['closed', 'invited'] as const)(
  'where registration is %s, a provider learns nothing about addresses that it has not proven',
  async (mode) => {
    const { attempt } = await setUp({ registration: { mode, domains: [] } });
    const refused = (email: string, invitation?: string) =>
      expect(attempt({ email, isEmailVerified: false }, { invitation })).rejects;
    for (const email of [EMAIL, 'nobody@example.org']) {
      await refused(email).toMatchObject({ code: 'AUTH_REGISTRATION_CLOSED' });
      // An invitation that was made up tells no more.
      await refused(email, 'x').toMatchObject(mode === 'invited' ? REFUSED : { code: 'AUTH_REGISTRATION_CLOSED' });
    }
  },
);

describe('an identity whose address has an account', () => {
  const OF_ADA = { email: EMAIL };

  const withoutPassword = async ({ app, user }: Awaited<ReturnType<typeof setUp>>) =>
    app.users.setPasswordHash(user.id, { passwordHash: NO_PASSWORD, isOfNewPassword: false, now: app.clock.now() });

  it('is linked and logs in when both sides have proven the address, and the account has no other way in; the mailbox is told', async () => {
    const ada = await setUp();
    const { app, user, session, enter, pending, identitiesOf } = ada;
    await withoutPassword(ada);
    expect((await enter(OF_ADA, { origin: ORIGIN })).user.id).toBe(user.id);
    expect(await identitiesOf(user.id)).toEqual(['4711']);
    expect(await pending()).toContain(`identity-linked to ${EMAIL}`);
    // The mail about the log-in, with a device that was unknown, undoes the link, too.
    const undos = (await ada.ofAda()).links.filter(({ purpose }) => purpose === 'factors-undo');
    expect(undos.map(({ keeps }) => keeps)).toEqual([[], []]);
    // What the account had stays.
    await app.refresh([session.refreshToken]);
  });

  it.each<[string, (ada: Awaited<ReturnType<typeof setUp>>) => Promise<unknown>]>([
    ['a password', async () => undefined],
    [
      'a password that was ended, by somebody who has proven the mailbox and need not be who signs in now',
      async ({ app, user }) =>
        app.users.setPasswordHash(user.id, { passwordHash: NO_PASSWORD, isOfNewPassword: true, now: app.clock.now() }),
    ],
    [
      'a passkey',
      async (ada) => {
        await withoutPassword(ada);
        await ada.app.records.insert('passkeys', aPasskey({ userId: ada.user.id }));
      },
    ],
    [
      'another identity',
      async (ada) => {
        await withoutPassword(ada);
        await ada.app.records.insert('identities', anIdentity({ userId: ada.user.id }));
      },
    ],
  ])('is not linked by the address alone to an account with %s', async (_what, add) => {
    const ada = await setUp();
    await add(ada);
    const before = await ada.identitiesOf(ada.user.id);
    await expect(ada.attempt(OF_ADA)).rejects.toMatchObject(CONFLICT);
    expect(await ada.identitiesOf(ada.user.id)).toEqual(before);
  });

  it('is linked to an account with a password if the provider hosts the mailbox', async () => {
    const { app, user, enter, identitiesOf } = await setUp();
    const email = 'ada@gmail.com';
    await app.users.update(user.id, { email, now: app.clock.now() });
    await expect(enter({ ...OF_ADA, email })).rejects.toMatchObject(CONFLICT);
    expect((await enter({ ...OF_ADA, email, issuer: 'https://accounts.google.com' })).user.id).toBe(user.id);
    expect(await identitiesOf(user.id)).toEqual(['4711']);
  });

  it('does not come back after it was removed, until its owner links it in a session', async () => {
    const ada = await setUp();
    const { app, deps, user, session, enter, attempt } = ada;
    await withoutPassword(ada);
    const { sessionId } = await enter(OF_ADA);
    const [identity] = await identitiesOf(app.records, user.id);
    const caller = { userId: user.id, sessionId };
    await unlinkIdentity({ ...deps, loginByCode: true })(caller, identity?.id ?? 'none');
    // Nor does another one with the address: who was removed may have several.
    for (const given of [{}, { email: EMAIL.toUpperCase() }, { subject: '4712' }])
      await expect(attempt({ ...OF_ADA, ...given })).rejects.toMatchObject(CONFLICT);
    await linkIdentity(deps)(caller, verifiedIdentity(OF_ADA));
    expect((await enter(OF_ADA)).user.id).toBe(user.id);
    expect(await ada.identitiesOf(user.id)).toEqual(['4711']);
    expect(session.sessionId).not.toBe(sessionId);
  });

  it.each([true, false])(
    'is not linked if the provider has not proven the address, but the account has: %s',
    async (isProven) => {
      const { user, attempt, identitiesOf } = await setUp({ isProven });
      await expect(attempt({ ...OF_ADA, isEmailVerified: false })).rejects.toMatchObject(CONFLICT);
      expect(await identitiesOf(user.id)).toEqual([]);
    },
  );

  it('takes an account over whose address was never proven: password, sessions, factors and identities go', async () => {
    const { app, user, session, enter, pending, ofAda } = await setUp({
      isProven: false,
      emailVerification: 'required',
    });
    await app.records.insert('identities', anIdentity({ userId: user.id }));
    const opened = await enter(OF_ADA, { locales: ['en'] });
    expect(opened.user.id).toBe(user.id);
    const refusals = await rejections([
      app.login({ account: EMAIL, password: ADA.password }),
      app.refresh([session.refreshToken]),
    ]);
    expect(refusals).toMatchObject([{ code: 'AUTH_CREDENTIALS_INVALID' }, { code: 'AUTH_FAILED' }]);
    expect(await pending()).toContain(`password-removed to ${EMAIL}`);
    expect((await ofAda()).sessions.map(({ id }) => id)).toEqual([opened.sessionId]);
    expect((await identitiesOf(app.records, user.id)).map(({ subject }) => subject)).toEqual(['4711']);
  });

  it('asks for the second factor of the account, and is not linked by the first one alone', async () => {
    const ada = await setUp();
    const { app, deps, user, session, attempt, identitiesOf } = ada;
    await withoutPassword(ada);
    const caller = { userId: user.id, sessionId: session.sessionId };
    const { id, secret } = await startApp(deps, app.secrets.factors)(caller);
    const code = codeAt(secret, app.clock.now());
    await confirmApp(deps)({ ...caller, id, code, tokenIssuedAt: app.clock.now() / 1_000 });
    expect(await attempt(OF_ADA)).toEqual({ pendingLogin: expect.any(String) });
    expect(await identitiesOf(user.id)).toEqual([]);
  });

  it('does not wait for a second factor any more when the address was proven, which has removed the identity', async () => {
    const { app, deps, user, attempt, linkIn } = await setUp({ isProven: false, secondFactor: 'required' });
    await app.records.insert('identities', anIdentity({ ...verifiedIdentity(), userId: user.id }));
    const result = await attempt();
    const pendingLogins = ['pendingLogin' in result ? result.pendingLogin : expect.unreachable()];
    expect(await showPendingLogin(deps)(pendingLogins)).toMatchObject({ enrol: true });
    app.clock.advance(MINUTE);
    const token = await linkIn({ kind: 'email-verification', to: EMAIL }, 'email-verification');
    await confirmEmail(deps)({ token });
    await expect(startPendingApp(deps, app.secrets.factors)(pendingLogins)).rejects.toMatchObject({
      code: 'AUTH_SECOND_FACTOR_INVALID',
    });
  });

  it('is decided again when the account gets another address meanwhile', async () => {
    let meanwhile: () => Promise<unknown> = async () => undefined;
    const { app, user, enter, identitiesOf } = await setUp({ claims: () => meanwhile().then(() => ({})) });
    meanwhile = () => app.users.update(user.id, { email: 'ada@new.example.org', now: app.clock.now() });
    expect((await enter(OF_ADA)).user.id).not.toBe(user.id);
    expect(await identitiesOf(user.id)).toEqual([]);
  });

  it('does not open a disabled account', async () => {
    const ada = await setUp();
    const { attempt, setDisabled } = ada;
    await withoutPassword(ada);
    await attempt(OF_ADA);
    await setDisabled(1);
    await expect(attempt(OF_ADA)).rejects.toMatchObject({ code: 'AUTH_ACCOUNT_DISABLED' });
    await expect(attempt({ ...OF_ADA, subject: 'another' })).rejects.toMatchObject({ code: 'AUTH_ACCOUNT_DISABLED' });
  });

  it('is refused when the account has as many as it may have', async () => {
    const { app, user, attempt } = await setUp();
    for (let at = 0; at < IDENTITIES_PER_USER; at += 1)
      await app.records.insert('identities', anIdentity({ userId: user.id }));
    await expect(attempt(OF_ADA)).rejects.toMatchObject(CONFLICT);
  });
});

import fc from 'fast-check';
import { confirmEmailChange, requestEmailChange } from '../../../src/application/accounts/change-email.ts';
import {
  confirmEmail,
  requestEmailVerification,
  takeAccountBack,
} from '../../../src/application/accounts/mail-links.ts';
import { changeLocale } from '../../../src/application/accounts/profile.ts';
import { makeRecoveryCodes, removeApp } from '../../../src/application/factors/manage-factors.ts';
import { removePasskey } from '../../../src/application/factors/passkeys.ts';
import { linkIdentity, unlinkIdentity } from '../../../src/application/identities/at-provider.ts';
import { factorsOf, findIdentity, identitiesOf, passkeysOf } from '../../../src/application/storage/credentials.ts';
import type { VerifiedIdentity } from '../../../src/domain/identity.ts';
import type { LinkPurpose } from '../../../src/domain/link.ts';
import { ADA, SECOND } from '../application.ts';
import { person } from './person.ts';
import { succeeds, type TakeoverWorld } from './world.ts';

const OPERATIONS = [
  ...['log-in', 'passkey-log-in', 'add-passkey', 'add-app', 'start-app', 'make-codes', 'remove-passkey', 'remove-app'],
  ...['change-password', 'ask-for-new-address', 'take-new-address', 'take-new-address-with-password', 'ask-for-reset'],
  ...['reset', 'ask-for-verification', 'verify', 'undo', 'change-locale', 'link-identity', 'sign-in'],
  ...['unlink-identity', 'send-mail'],
] as const;
export type Operation = (typeof OPERATIONS)[number];

/** Without these, most of the others are refused. */
const OFTEN = ['add-passkey', 'add-app', 'ask-for-new-address', 'take-new-address', 'ask-for-reset', 'reset'] as const;

export const programs = (maxLength: number): fc.Arbitrary<Operation[]> =>
  fc.array(fc.oneof(fc.constantFrom(...OPERATIONS), fc.constantFrom(...OFTEN)), { maxLength, size: 'max' });

/** Somebody's account at a provider, which vouches for an address of theirs. */
export const anIdentityOf = (subject: string, email = MAILBOXES[0] ?? ''): VerifiedIdentity => ({
  issuer: 'https://accounts.example',
  subject,
  provider: 'acme',
  email,
  isEmailVerified: true,
});

/** Mailboxes of the thief. */
const MAILBOXES = ['thief@example.com', 'thief@example.net'];

/** Somebody who knows a password of Ada's account, and has mailboxes of their own. */
export const thief = (world: TakeoverWorld) => {
  const { app, deps, userId } = world;
  const mallory = person(world, ADA.username);
  const passwords = [ADA.password];
  const { caller, request } = mallory;
  const password = () => passwords.at(-1) ?? '';
  const newPassword = () => {
    passwords.push(`thief's horse ${passwords.length}`);
    return password();
  };
  let changes = 0;

  const links = async () => (await Promise.all(MAILBOXES.map(world.linksOf))).flat();
  const linkOf = async (...purposes: readonly LinkPurpose[]) =>
    (await links()).findLast(({ purpose }) => purposes.includes(purpose));
  const tokenOf = async (purpose: LinkPurpose) => (await linkOf(purpose))?.token ?? 'none';
  const addressNow = async () => (await world.stored())?.email ?? 'nobody@example.org';
  const replaced = async (pair: { refreshToken: string } | null) => {
    if (pair === null) return;
    const verified = await app.tokens.verifyRefresh(pair.refreshToken, app.clock.now());
    if (verified.ok) mallory.hold({ sessionId: verified.token.sessionId, refreshToken: pair.refreshToken });
  };

  const undo = async () => {
    const link = await linkOf('email-change-undo', 'factors-undo');
    if (link === undefined) return;
    await takeAccountBack(deps, link.purpose === 'factors-undo' ? 'factors-undo' : 'email-change-undo')(link);
  };
  const operations: Readonly<Record<Operation, () => Promise<unknown>>> = {
    'log-in': () => mallory.logIn(password()),
    'passkey-log-in': () => mallory.useKey(mallory.keys.at(-1)),
    'add-passkey': mallory.addPasskey,
    'add-app': mallory.addApp,
    'start-app': mallory.startApp,
    'make-codes': () => makeRecoveryCodes(deps)(caller()),
    'remove-passkey': async () =>
      removePasskey(deps)(caller(), (await passkeysOf(app.records, userId)).at(0)?.id ?? 'none'),
    'remove-app': async () => removeApp(deps)(caller(), (await factorsOf(app.records, userId)).at(0)?.id ?? 'none'),
    'change-password': async () => {
      const currentPassword = password();
      await replaced(await app.changePassword({ ...request(), currentPassword, newPassword: newPassword() }));
    },
    'ask-for-new-address': () => {
      changes += 1;
      const email = MAILBOXES[changes % MAILBOXES.length] ?? '';
      return requestEmailChange(deps)({ ...request(), password: password(), email });
    },
    'take-new-address': async () => {
      const session = { id: caller().sessionId, userId };
      await replaced(await confirmEmailChange(deps)({ token: await tokenOf('email-change'), session }));
    },
    'take-new-address-with-password': async () =>
      confirmEmailChange(deps)({ token: await tokenOf('email-change'), password: password() }),
    'ask-for-reset': async () => app.requestPasswordReset(await addressNow()),
    reset: async () => app.resetPassword({ token: await tokenOf('password-reset'), newPassword: newPassword() }),
    'ask-for-verification': async () => requestEmailVerification(deps)(await addressNow()),
    verify: async () => confirmEmail(deps)({ token: await tokenOf('email-verification') }),
    undo,
    'change-locale': () => changeLocale(deps)(caller(), 'fr'),
    'link-identity': () => linkIdentity(deps)(caller(), anIdentityOf('thief')),
    'sign-in': () => mallory.signIn(anIdentityOf('thief')),
    'unlink-identity': async () =>
      unlinkIdentity(deps)(caller(), (await identitiesOf(app.records, userId)).at(0)?.id ?? 'none'),
    'send-mail': links,
  };

  return {
    ...mallory,
    act: async (operation: Operation): Promise<void> => {
      app.clock.advance(SECOND);
      const before = passwords.length;
      if (!(await succeeds(operations[operation]))) passwords.length = before;
    },
    /** Tries everything that the thief has. @returns what has opened a session, or done something. */
    ways: async (): Promise<string[]> => {
      const found: string[] = [];
      const attempt = async (what: string, act: () => Promise<unknown>) => {
        if (await succeeds(act)) found.push(what);
      };
      for (const token of mallory.tokens) await attempt('refresh', () => app.refresh([token]));
      for (const key of mallory.keys) await attempt('passkey', () => mallory.useKey(key));
      if ((await findIdentity(app.records, anIdentityOf('thief')))?.userId === userId) found.push('identity');
      for (const each of passwords) {
        await attempt('password', () => mallory.logIn(each));
      }
      for (const { purpose, token } of await links()) {
        if (purpose === 'password-reset')
          await attempt(purpose, () => app.resetPassword({ token, newPassword: newPassword() }));
        if (purpose === 'email-change')
          for (const each of passwords)
            await attempt(purpose, () => confirmEmailChange(deps)({ token, password: each }));
        if (purpose === 'email-change-undo' || purpose === 'factors-undo')
          await attempt(purpose, () => takeAccountBack(deps, purpose)({ token }));
      }
      return found;
    },
  };
};

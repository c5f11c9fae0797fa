// Proves provider-1

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { presenceOf, storeArrival } from '../../../src/application/accounts/import-user.ts';
import { confirmEmail, requestEmailVerification } from '../../../src/application/accounts/mail-links.ts';
import { register } from '../../../src/application/accounts/register.ts';
import { finishLogin } from '../../../src/application/factors/finish-login.ts';
import { linkIdentity, unlinkIdentity } from '../../../src/application/identities/at-provider.ts';
import { signIn } from '../../../src/application/identities/sign-in.ts';
import { adopt } from '../../../src/application/login/adopt.ts';
import { login } from '../../../src/application/login/login.ts';
import type { LoginResult } from '../../../src/application/login/pending-login.ts';
import { factorsOf, identitiesOf } from '../../../src/application/storage/credentials.ts';
import { duplicateUser } from '../../../src/domain/errors/app-error.ts';
import { NOTICES } from '../../../src/domain/happenings.ts';
import { MINUTE, SECOND } from '../../support/application.ts';
import { codeAt } from '../../support/authenticator-app.ts';
import { applicationWithMail } from '../../support/mail/sender.ts';
import { holds } from '../../support/properties/properties.ts';
import { succeeds } from '../../support/takeover/world.ts';

const PEOPLE = ['ada', 'mallory'] as const;
type Person = (typeof PEOPLE)[number];
const ISSUER = 'https://accounts.example';
const addressOf = (person: Person) => `${person}@example.org`;

/** Of their authenticator apps, where they had an account before. */
const APPS = { ada: 'JBSWY3DPEHPK3PXP', mallory: 'GEZDGNBVGY3TQOJQ' };

const ACTS = [
  ...(['register', 'import', 'import-with-app', 'adopt'] as const),
  ...(['log-in', 'sign-in', 'link', 'unlink', 'verify', 'reset'] as const),
];
type Act = {
  readonly act: (typeof ACTS)[number];
  readonly by: Person;
  /** Whose address they use. */
  readonly of: Person;
};
const PROGRAMS = fc.array(
  fc.record<Act>({ act: fc.constantFrom(...ACTS), by: fc.constantFrom(...PEOPLE), of: fc.constantFrom(...PEOPLE) }),
  { maxLength: 30, size: 'max' },
);

/** Two people with a mailbox, a password, an app and an account at a provider, who use each other's address. */
const world = () => {
  const notices = new Set(NOTICES);
  const app = applicationWithMail({ notices });
  const deps = {
    ...{ ...app, notices, emailVerification: 'optional' as const, pause: async () => undefined },
    factorSecrets: app.secrets.factors,
    verifyAssertion: async (userId: string, now: number) => ({ id: app.ids.next(), userId, expiresAt: now + MINUTE }),
  };
  /** The one who has made each account, and each session. */
  const [makers, holders] = [new Map<string, Person>(), new Map<string, Person>()];
  const latest = new Map<Person, { readonly userId: string; readonly sessionId: string }>();
  /** Sessions for which a code of an app was shown, and the accounts that people had before. */
  const [guarded, former] = [new Set<string>(), new Map<Person, string>()];
  const passwordOf = (person: Person) => `the horse of ${person}`;
  const hold = async (person: Person, result: LoginResult) => {
    const isGuarded = 'pendingLogin' in result;
    const factor = { code: codeAt(APPS[person], app.clock.now()) };
    const { user, sessionId } = isGuarded
      ? (await finishLogin(deps)({ pendingLogins: [result.pendingLogin], factor })).opened
      : result;
    if (isGuarded) guarded.add(sessionId);
    if (!makers.has(user.id)) makers.set(user.id, person);
    holders.set(sessionId, person);
    latest.set(person, { userId: user.id, sessionId });
  };
  /** The provider vouches for an address of the person alone. */
  const identityOf = (by: Person, of: Person) => ({
    issuer: ISSUER,
    subject: by,
    provider: 'acme',
    email: addressOf(of),
    isEmailVerified: by === of,
  });
  /** The former system vouches for an address of the person alone, too. */
  const importOf = async (by: Person, of: Person, appSecrets: readonly string[]) => {
    const arrival = {
      ...{ id: app.ids.next(), username: null, email: addressOf(of), isEmailVerified: by === of, locale: null },
      ...{ passwordHash: await app.hasher.hash(passwordOf(by)), attributes: {}, isDisabled: false, createdAt: null },
      ...{ identities: [identityOf(by, of)], appSecrets },
    };
    if ((await presenceOf(app, app, arrival)) !== null) throw duplicateUser('email', 'refused');
    await app.transactions.run((stores) => storeArrival(deps, stores, arrival));
    makers.set(arrival.id, by);
    former.set(by, arrival.id);
  };
  const caller = (person: Person) => latest.get(person) ?? { userId: 'nobody', sessionId: 'none' };
  /** The token of the newest link in the mailbox of a person. */
  const mailed = async (person: Person, purpose: string) => {
    // Requests of others may have used up what a mailbox gets in an hour.
    app.clock.advance(120 * MINUTE);
    await app.sendAll();
    const texts = app.mails.filter(({ to }) => to === addressOf(person)).map(({ text }) => text);
    return texts.map((text) => new RegExp(`/${purpose}#token=(\\S+)$`, 'm').exec(text)?.[1]).findLast(Boolean) ?? '';
  };
  const acts: Readonly<Record<Act['act'], (by: Person, of: Person) => Promise<unknown>>> = {
    register: async (by, of) => hold(by, await register(deps)({ email: addressOf(of), password: passwordOf(by) })),
    import: (by, of) => importOf(by, of, []),
    'import-with-app': (by, of) => importOf(by, of, [APPS[by]]),
    adopt: async (by) => hold(by, await adopt(deps)({ assertion: former.get(by) ?? 'nobody' })),
    'log-in': async (by, of) => hold(by, await login(deps)({ account: addressOf(of), password: passwordOf(by) })),
    'sign-in': async (by, of) => hold(by, await signIn(deps)({ identity: identityOf(by, of) })),
    link: (by, of) => linkIdentity(deps)(caller(by), identityOf(by, of)),
    // The session must have presented the password, some minutes ago at most.
    unlink: async (by) => {
      await acts['log-in'](by, by);
      const [first] = await identitiesOf(app.records, caller(by).userId);
      await unlinkIdentity(deps)(caller(by), first?.id ?? '');
    },
    // A verification keeps the password. The mail tells who has not registered to say so instead.
    verify: async (by) => {
      const user = await app.users.findByEmail(addressOf(by));
      if (user !== null && makers.get(user.id) !== by) return;
      await requestEmailVerification(deps)(addressOf(by));
      await confirmEmail(deps)({ token: await mailed(by, 'email-verification') });
    },
    reset: async (by) => {
      await app.requestPasswordReset(addressOf(by));
      await app.resetPassword({ token: await mailed(by, 'password-reset'), newPassword: passwordOf(by) });
    },
  };
  return {
    act: ({ act, by, of }: Act) => {
      // No code of an app is accepted twice.
      app.clock.advance(31 * SECOND);
      return succeeds(() => acts[act](by, of));
    },
    /** Sessions and identities that are not those of the mailbox's owner; of an account whose address nobody has proven, of its maker. */
    misplaced: async () => {
      const wrong: string[] = [];
      for (const person of PEOPLE) {
        const user = await app.users.findByEmail(addressOf(person));
        if (user === null) continue;
        const owner = user.emailVerifiedAt === null ? makers.get(user.id) : person;
        const sessions = await app.sessions.listByUser(user.id, app.clock.now());
        const identities = await identitiesOf(app.records, user.id);
        const theirs = [...sessions.map(({ id }) => holders.get(id)), ...identities.map(({ subject }) => subject)];
        const apps = await factorsOf(app.records, user.id);
        if (apps.length > 0 && !sessions.every(({ id }) => guarded.has(id)))
          wrong.push(`a session of ${owner} without a code`);
        wrong.push(...theirs.filter((each) => each !== owner).map((each) => `${each} in the account of ${owner}`));
      }
      return wrong;
    },
  };
};

it('nobody gets into an account whose password, factor, identity or address they have not shown, whatever happens in which order', async () => {
  const seen = new Set<string>();
  const property = fc.asyncProperty(PROGRAMS, async (program) => {
    const { act, misplaced } = world();
    for (const each of program) {
      if (await act(each)) seen.add(each.act);
      expect(await misplaced()).toEqual([]);
    }
  });
  await holds(property, { numRuns: 100 });
  // Each of them was possible at times.
  expect([...seen].toSorted()).toEqual([...ACTS].toSorted());
});

import { afterAll, describe, expect, it } from 'vitest';
import { WITHOUT_SESSION } from '../../../src/adapters/http/flow/rows.ts';
import { formPath, PAGES, type Page, type PageName, takesProof } from '../../../src/adapters/http/forms/flow.ts';
import { memoryCounts } from '../../../src/adapters/limits/counts.ts';
import { countAttempts } from '../../../src/adapters/limits/login-attempts.ts';
import { CATALOG, type ErrorCode } from '../../../src/domain/errors/catalog.ts';
import type { LinkPurpose } from '../../../src/domain/link.ts';
import { NO_PASSWORD } from '../../../src/domain/password.ts';
import { PAGE_FILES } from '../../../src/infrastructure/template-files.ts';
import { MINUTE } from '../../support/application.ts';
import { type AuthenticatorOptions, authenticator } from '../../support/authenticator.ts';
import { codeAt, wrongCodeAt } from '../../support/authenticator-app.ts';
import { readText } from '../../support/checkout/repository.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import { invitedPerson, linkIdentity, mailedCode, storeLink } from '../../support/http/account.ts';
import { APP_LINK, anApp } from '../../support/http/app-login.ts';
import { servicesOverOneDatabase } from '../../support/http/auth-http.ts';
import { boundVisitor, SHOWN_SECRET, startApp } from '../../support/http/page-factors.ts';
import {
  locationIn,
  ORIGIN,
  pathOfPage,
  registeredVisitor,
  type Visitor,
  visitorOf,
} from '../../support/http/page-visitor.ts';
import { aPerson, type TestService } from '../../support/http/service.ts';
import { unescaped } from '../../support/http/shown-forms.ts';
import { memoryMailer } from '../../support/mail/memory-mailer.ts';
import { CLIENT, startProvider } from '../../support/oidc/provider.ts';

const STEP = 30_000;
const { start } = servicesOverOneDatabase();
const clock = fixedClock(Date.UTC(2026, 0, 1, 12));
const mailer = memoryMailer();
const provider = await startProvider();
afterAll(provider.close);
const PROVIDERS = {
  OIDC_PROVIDERS: 'acme,down',
  OIDC_ACME_ISSUER: provider.issuer,
  OIDC_ACME_CLIENT_ID: CLIENT.id,
  OIDC_ACME_CLIENT_SECRET: CLIENT.secret,
  // Nothing listens there.
  OIDC_DOWN_ISSUER: 'http://127.0.0.1:9',
  OIDC_DOWN_CLIENT_ID: CLIENT.id,
  OIDC_DOWN_CLIENT_SECRET: CLIENT.secret,
};
const startWith = (given: Readonly<Record<string, string>> = {}) => {
  const env = { ALLOWED_ORIGINS_DEV: 'https://app.example.org', LOGIN_BY_CODE: 'on', APP_LINKS: APP_LINK };
  const attempts = countAttempts(memoryCounts({ now: clock.now }), clock);
  return start({ ...env, ...PROVIDERS, ...given }, () => ({ clock, mailer, attempts }));
};
const service = await startWith();
/** Services that ask more of a log-in: a proven address, a second factor, or a code by mail on a new device. */
const verifying = await startWith({ EMAIL_VERIFICATION: 'required' });
const strict = await startWith({ SECOND_FACTOR: 'required' });
const wary = await startWith({ NEW_DEVICE_CODE: 'on' });
/** One for other addresses. */
const only = await startWith({ REGISTRATION_DOMAINS: 'a.example' });
/** Two where users may have no password; one of them asks for a second factor. */
const lenient = await startWith({ PASSWORDS: 'optional' });
const nameless = await startWith({ SECOND_FACTOR: 'required', PASSWORDS: 'optional' });

const { templates, texts, locales } = await PAGE_FILES.builtIn();
const TEXTS = texts.get('en') ?? expect.unreachable();
const { notices, errors, pages: titles } = TEXTS;
const EVERY_FORM = (Object.keys(PAGES) as PageName[]).flatMap((page) =>
  Object.entries((PAGES[page] as Page).forms).map(([name, form]) => ({ key: `${page}.${name}`, page, name, form })),
);

const newKey = (given: AuthenticatorOptions = {}) =>
  authenticator({ rpId: 'auth.example.org', origin: ORIGIN, ...given });
const RECOVERY_CODE = /<code>([\w-]{29})<\/code>/;
const json = (value: unknown) => JSON.stringify(value);

/** Somebody who is at a page, logged in or not. */
const at = async (path: string, on = service) => {
  const visitor = visitorOf(on);
  expect((await visitor.open(path)).status).toBe(200);
  return visitor;
};
/** The same, who has just registered. */
const memberAt = async (path: string, on = service) => {
  const member = await registeredVisitor(on);
  expect((await member.open(path)).status).toBe(200);
  return member;
};
type Member = Awaited<ReturnType<typeof memberAt>>;

/** Sends a mail once more, from the page to which the form leads. */
const sentAgain = async (page: 'forgot' | 'verify') => {
  const visitor = await at(PAGES[page].path);
  const { email } = aPerson();
  await visitor.submit(`${page}.${page}`, { email });
  await visitor.follow();
  return sending(visitor, `check-mail.${page}`);
};

/** Somebody who registers by an invitation. */
const invited = async (on: TestService, typed = {}) => {
  const person = { ...(await invitedPerson(on)), ...typed };
  return sending(await at('/auth/link/invitation', on), 'invitation.invitation', person);
};

/** The options that a page has for a passkey. */
const optionsFor = (visitor: Pick<Visitor, 'shown'>, form: string) =>
  visitor.shown(form)[0]?.options ?? expect.unreachable();

/** Adds a passkey at the page that is open. @returns its key. */
const addPasskey = async (member: Visitor, given: AuthenticatorOptions = {}) => {
  const key = newKey(given);
  const credential = json(key.create(optionsFor(member, 'factors.passkey')));
  await member.submit('factors.passkey', { name: 'My key', credential });
  return key;
};

/** Somebody who has registered without a password. */
const withoutPassword = async (path: string) => {
  const visitor = await at('/auth/register', lenient);
  await visitor.submit('register.register', { email: aPerson().email });
  await visitor.open(path);
  return visitor;
};

/** Adds an authenticator app, and goes to a page. */
const withApp = async (path: string) => {
  const member = await memberAt('/auth/account/factors');
  const secret = await startApp(member);
  await member.submit('factors.app', { code: codeAt(secret, clock.now()) });
  const shown = (await member.follow()).text.matchAll(new RegExp(RECOVERY_CODE, 'g'));
  clock.advance(STEP);
  await member.open(path);
  return { ...member, secret, codes: [...shown].map(([, code = '']) => code) };
};

/** Adds a passkey, and goes to a page. */
const withPasskey = async (path: string) => {
  const member = await memberAt('/auth/account/factors');
  const key = await addPasskey(member);
  await member.open(path);
  return { ...member, key };
};

/** Somebody who has to prove the key of the device. */
const unproven = async () => {
  const { proofFor, ...visitor } = await boundVisitor(service, clock);
  clock.advance(11 * MINUTE);
  await visitor.open('/auth/account');
  expect((await visitor.follow()).text).toContain(titles.prove?.title);
  return { ...visitor, proofFor };
};

/** What a browser without cookies, where somebody has shown the password, is asked next. */
const pendingOf = async ({ person }: Pick<Member, 'person'>, on = service) => {
  const visitor = await at('/auth/log-in', on);
  await visitor.submit('log-in.log-in', { account: person.username, password: person.password });
  await visitor.follow();
  return visitor;
};

/** Somebody with a proven address who logs in with another browser. */
const newDevice = async () => {
  const { person, user } = await memberAt('/auth/account', wary);
  await wary.ports.users.update(user.id, { emailVerifiedAt: clock.now(), now: clock.now() });
  const visitor = await pendingOf({ person }, wary);
  return { visitor, email: person.email };
};

/** What a browser without cookies is asked next, where somebody wants a code by mail; and that code. */
const codeOf = async ({ user }: Pick<Member, 'user'>) => {
  await service.ports.users.update(user.id, { emailVerifiedAt: 1, now: clock.now() });
  const visitor = await at('/auth/log-in');
  await visitor.submit('log-in.code', { account: user.email });
  await visitor.follow();
  const code = await mailedCode(service, mailer, user.email);
  return { ...visitor, code, wrongCode: code.replace(/.$/, (digit) => `${(Number(digit) + 1) % 10}`) };
};

/** The page of a link that somebody got by mail. */
const atLink = async (purpose: LinkPurpose) => {
  const { user, person } = await registeredVisitor(service);
  const email = purpose === 'email-change' ? aPerson().email : user.email;
  const token = await storeLink(service, { userId: user.id, purpose, email });
  const reader = await at(`/auth/link/${purpose}`);
  return { ...reader, person, token };
};

/** Fills in the form of a page, and sends it. */
const sending = async (visitor: Visitor, form: string, fields: Readonly<Record<string, string>> = {}) => {
  await visitor.submit(form, fields);
  return visitor;
};
const loginOptions = async () => (await service.http.post('/auth/passkey/options').expect(200)).body.data;

/** Somebody who has registered where a second factor is required, and has to add an app. */
const enrolling = async () => {
  const visitor = await at('/auth/register', strict);
  await visitor.submit('register.register', aPerson());
  await visitor.follow();
  return visitor;
};

const linkResults = (purpose: LinkPurpose, fields: Readonly<Record<string, string>> = {}) => ({
  success: async () => {
    const { token, person, ...reader } = await atLink(purpose);
    const password = purpose === 'email-change' ? { password: person.password } : {};
    return sending(reader, `${purpose}.${purpose}`, { token, ...password, ...fields });
  },
});

/** A sign-in at the provider that is begun with the form of a page, and one at a provider that does not answer. */
const providerResults = (form: string, page: () => Promise<Visitor>) => ({
  // Without a way back, which the address of the page would have.
  url: async () => sending(await page(), form, { to: '' }),
  SYS_PROVIDER_UNAVAILABLE: async () => sending(await page(), form, { to: '', provider: 'down' }),
});

type Results = Readonly<Record<string, () => Promise<Visitor>>>;

/**
 * How each result of a form comes about: `success`, the member that the page shows once, or the error. What it leads to says the table. The
 * results that all forms have are below.
 */
const RESULTS: Readonly<Record<string, Results>> = {
  'log-in.account': { success: async () => sending(await at('/auth/log-in'), 'log-in.account', { account: 'nobody' }) },
  'log-in.log-in': {
    success: async () => {
      const { person } = await memberAt('/auth/account');
      const { username, password } = person;
      return sending(await at('/auth/log-in'), 'log-in.log-in', { account: ` ${username} `, password });
    },
    AUTH_CREDENTIALS_INVALID: async () =>
      sending(await at('/auth/log-in'), 'log-in.log-in', { account: 'nobody', password: 'wrong' }),
    AUTH_SECOND_FACTOR_REQUIRED: async () => {
      const { person } = await withApp('/auth/account');
      return sending(await at('/auth/log-in'), 'log-in.log-in', { account: person.email, password: person.password });
    },
    AUTH_EMAIL_UNVERIFIED: async () => {
      const [visitor, { password, ...person }] = [await at('/auth/register', verifying), aPerson()];
      await visitor.submit('register.register', { ...person, password });
      await visitor.open('/auth/log-in');
      return sending(visitor, 'log-in.log-in', { account: person.username, password });
    },
  },
  'log-in.provider': providerResults('log-in.provider', () => at('/auth/log-in')),
  'register.provider': providerResults('register.provider', () => at('/auth/register')),
  'step-up.provider': providerResults('step-up.provider', async () => {
    const member = await memberAt('/auth/account');
    await linkIdentity(service, member.user);
    await member.open('/auth/step-up');
    return member;
  }),
  'app.app': {
    url: async () => sending(await memberAt(pathOfPage('app', anApp().to)), 'app.app'),
    AUTH_DEVICE_UNPROVEN: async () => {
      const visitor = await boundVisitor(service, clock);
      await visitor.open(pathOfPage('app', anApp().to));
      return sending(visitor, 'app.app');
    },
  },
  'factors.link': providerResults('factors.link', () => memberAt('/auth/account/factors')),
  'factors.unlink': {
    success: async () => {
      const member = await memberAt('/auth/account/factors');
      await linkIdentity(service, member.user);
      await member.open('/auth/account/factors');
      return sending(member, 'factors.unlink');
    },
  },
  'log-in.passkey': {
    success: async () => {
      const { key } = await withPasskey('/auth/account');
      return sending(await at('/auth/log-in'), 'log-in.passkey', { credential: json(key.get(await loginOptions())) });
    },
    AUTH_SECOND_FACTOR_REQUIRED: async () => {
      const key = await addPasskey(await withApp('/auth/account/factors'), { isUserVerified: false });
      return sending(await at('/auth/log-in'), 'log-in.passkey', { credential: json(key.get(await loginOptions())) });
    },
    AUTH_PASSKEY_INVALID: async () => {
      const { key } = await withPasskey('/auth/account');
      const credential = json(key.get({ challenge: 'x'.repeat(43) }));
      return sending(await at('/auth/log-in'), 'log-in.passkey', { credential });
    },
    DB_RECORD_NOT_FOUND: async () =>
      sending(await at('/auth/log-in'), 'log-in.passkey', { credential: json(newKey().get(await loginOptions())) }),
  },
  'log-in.code': { success: async () => sending(await at('/auth/log-in'), 'log-in.code', { account: 'nobody' }) },
  'code.code': {
    success: async () => {
      const { code, ...visitor } = await codeOf(await memberAt('/auth/account'));
      return sending(visitor, 'code.code', { code: ` ${code.slice(0, 4)} ${code.slice(4)}` });
    },
    AUTH_CODE_INVALID: async () => {
      const { wrongCode, ...visitor } = await codeOf(await memberAt('/auth/account'));
      return sending(visitor, 'code.code', { code: wrongCode });
    },
    AUTH_ACCOUNT_DISABLED: async () => {
      const { user } = await memberAt('/auth/account');
      const { code, ...visitor } = await codeOf({ user });
      await service.ports.users.update(user.id, { disabledAt: 1, now: clock.now() });
      return sending(visitor, 'code.code', { code });
    },
    AUTH_SECOND_FACTOR_REQUIRED: async () => {
      const { code, ...visitor } = await codeOf(await withApp('/auth/account'));
      return sending(visitor, 'code.code', { code });
    },
  },
  'code.again': { success: async () => sending(await at('/auth/code'), 'code.again', { account: 'nobody' }) },
  'register.register': {
    success: async () => sending(await at('/auth/register'), 'register.register', aPerson()),
    mail: async () => sending(await at('/auth/register', verifying), 'register.register', aPerson()),
    secondFactor: async () => sending(await at('/auth/register', strict), 'register.register', aPerson()),
    code: async () => {
      const { email } = aPerson();
      return sending(await at('/auth/register', nameless), 'register.register', { email });
    },
    AUTH_REGISTRATION_REFUSED: async () => sending(await at('/auth/register', only), 'register.register', aPerson()),
    AUTH_USER_DUPLICATE: async () => {
      const { person } = await memberAt('/auth/account');
      return sending(await at('/auth/register'), 'register.register', person);
    },
  },
  'new-passkey.new-passkey': {
    success: async () => {
      const member = await memberAt('/auth/new-passkey');
      const credential = json(newKey().create(optionsFor(member, 'new-passkey.new-passkey')));
      return sending(member, 'new-passkey.new-passkey', { credential });
    },
    recoveryCodes: async () => {
      const member = await withoutPassword('/auth/new-passkey');
      const credential = json(newKey().create(optionsFor(member, 'new-passkey.new-passkey')));
      return sending(member, 'new-passkey.new-passkey', { credential });
    },
  },
  'forgot.forgot': {
    success: async () => sending(await at('/auth/forgot'), 'forgot.forgot', { email: 'nobody@example.org' }),
  },
  'verify.verify': {
    success: async () => sending(await at('/auth/verify'), 'verify.verify', { email: 'nobody@example.org' }),
  },
  'check-mail.forgot': { success: () => sentAgain('forgot') },
  'check-mail.verify': { success: () => sentAgain('verify') },
  'password-reset.password-reset': linkResults('password-reset', { newPassword: 'staple horse battery' }),
  'email-verification.email-verification': linkResults('email-verification'),
  'invitation.invitation': {
    success: () => invited(service),
    secondFactor: () => invited(strict),
    code: () => invited(nameless, { password: '' }),
  },
  'not-me.not-me': linkResults('not-me'),
  'email-change.email-change': linkResults('email-change'),
  'email-change-undo.email-change-undo': linkResults('email-change-undo'),
  'factors-undo.factors-undo': linkResults('factors-undo'),
  'second-factor.second-factor': {
    success: async () => {
      const member = await withApp('/auth/account');
      const code = codeAt(member.secret, clock.now());
      const typed = { code: `${code.slice(0, 3)} ${code.slice(3)}`, remember: 'on' };
      const visitor = await sending(await pendingOf(member), 'second-factor.second-factor', typed);
      expect([...visitor.jar.keys()]).toContain('remembered_device');
      return visitor;
    },
    recoveryCodes: async () => {
      const visitor = await enrolling();
      const secret = await startApp(visitor, 'second-factor.start-app');
      return sending(visitor, 'second-factor.second-factor', { code: codeAt(secret, clock.now()) });
    },
    AUTH_SECOND_FACTOR_INVALID: async () => {
      const member = await withApp('/auth/account');
      const code = wrongCodeAt(member.secret, clock.now());
      return sending(await pendingOf(member), 'second-factor.second-factor', { code });
    },
  },
  'second-factor.mail-code': {
    success: async () => {
      const { visitor, email } = await newDevice();
      expect(visitor.answers.at(-1)?.text).toContain('If the password is right, we have sent a code');
      const code = await mailedCode(wary, mailer, email);
      await sending(visitor, 'second-factor.mail-code', { mailCode: `${code.slice(0, 4)} ${code.slice(4)}` });
      expect([...visitor.jar.keys()]).toContain('remembered_device');
      return visitor;
    },
  },
  'second-factor.recovery': {
    success: async () => {
      const { codes, ...member } = await withApp('/auth/account');
      return sending(await pendingOf(member), 'second-factor.recovery', { recoveryCode: codes[0] ?? '' });
    },
  },
  'second-factor.passkey': {
    success: async () => {
      const member = await withApp('/auth/account/factors');
      const key = await addPasskey(member);
      const visitor = await pendingOf(member);
      const credential = json(key.get(optionsFor(visitor, 'second-factor.passkey')));
      return sending(visitor, 'second-factor.passkey', { credential });
    },
  },
  'second-factor.start-app': { secret: async () => sending(await enrolling(), 'second-factor.start-app') },
  'step-up.step-up': {
    success: async () => {
      const { person, ...member } = await memberAt('/auth/step-up');
      return sending(member, 'step-up.step-up', { password: person.password });
    },
    AUTH_CREDENTIALS_INVALID: async () =>
      sending(await memberAt('/auth/step-up'), 'step-up.step-up', { password: 'wrong' }),
  },
  'step-up.code': {
    success: async () => {
      const { secret, ...member } = await withApp('/auth/step-up');
      return sending(member, 'step-up.code', { code: codeAt(secret, clock.now()) });
    },
  },
  'step-up.recovery': {
    success: async () => {
      const { codes, ...member } = await withApp('/auth/step-up');
      return sending(member, 'step-up.recovery', { recoveryCode: codes[0] ?? '' });
    },
  },
  'step-up.passkey': {
    success: async () => {
      const { key, ...member } = await withPasskey('/auth/step-up');
      return sending(member, 'step-up.passkey', { credential: json(key.get(await loginOptions())) });
    },
  },
  'step-up.mail-code': { success: async () => sending(await memberAt('/auth/step-up'), 'step-up.mail-code') },
  'prove.prove': {
    success: async () => {
      const { proofFor, ...visitor } = await unproven();
      return sending(visitor, 'prove.prove', { proof: await proofFor('/auth/prove') });
    },
    AUTH_DEVICE_UNPROVEN: async () => {
      const visitor = await unproven();
      await visitor.open('/auth/prove');
      return sending(visitor, 'prove.prove');
    },
    AUTH_FAILED: async () => sending(await at('/auth/prove'), 'prove.prove'),
  },
  'account.username': {
    success: async () => sending(await memberAt('/auth/account'), 'account.username', { username: aPerson().username }),
  },
  'account.email': {
    success: async () => {
      const { person, ...member } = await memberAt('/auth/account');
      return sending(member, 'account.email', { email: aPerson().email, password: person.password });
    },
    AUTH_CREDENTIALS_INVALID: async () =>
      sending(await memberAt('/auth/account'), 'account.email', { email: aPerson().email, password: 'wrong' }),
    AUTH_CODE_INVALID: async () => {
      const member = await memberAt('/auth/account', lenient);
      return sending(member, 'account.email', { email: aPerson().email, code: '00000000' });
    },
  },
  'account.confirmation-code': {
    success: async () => sending(await memberAt('/auth/account', lenient), 'account.confirmation-code'),
  },
  'account.password': {
    success: async () => {
      const { person, ...member } = await memberAt('/auth/account');
      const passwords = { currentPassword: person.password, newPassword: 'staple horse battery' };
      return sending(member, 'account.password', passwords);
    },
  },
  'account.language': {
    success: async () => sending(await memberAt('/auth/account'), 'account.language', { locale: 'de' }),
  },
  'account.session': {
    success: async () => {
      const { person, ...member } = await memberAt('/auth/account');
      await service.http.post('/auth/login').send({ account: person.username, password: person.password }).expect(200);
      await member.open('/auth/account');
      const [other = ''] = (await service.ports.sessions.listByUser(member.user.id, clock.now())).map(({ id }) => id);
      return sending(member, 'account.session', { id: other });
    },
  },
  'account.sessions': { success: async () => sending(await memberAt('/auth/account'), 'account.sessions') },
  'factors.passkey': {
    recoveryCodes: async () => {
      const member = await withoutPassword('/auth/account/factors');
      await addPasskey(member);
      return member;
    },
    success: async () => {
      const member = await memberAt('/auth/account/factors');
      await addPasskey(member);
      return member;
    },
  },
  'factors.rename-passkey': {
    success: async () =>
      sending(await withPasskey('/auth/account/factors'), 'factors.rename-passkey', { name: 'Another' }),
  },
  'factors.remove-passkey': {
    allAcceptedCredentialIds: async () => sending(await withPasskey('/auth/account/factors'), 'factors.remove-passkey'),
  },
  'factors.start-app': { secret: async () => sending(await memberAt('/auth/account/factors'), 'factors.start-app') },
  'factors.app': {
    recoveryCodes: async () => {
      const member = await memberAt('/auth/account/factors');
      const secret = await startApp(member);
      return sending(member, 'factors.app', { code: codeAt(secret, clock.now()) });
    },
  },
  'factors.remove-app': { success: async () => sending(await withApp('/auth/account/factors'), 'factors.remove-app') },
  'factors.recovery-codes': {
    recoveryCodes: async () => sending(await withApp('/auth/account/factors'), 'factors.recovery-codes'),
  },
  'delete.delete': {
    success: async () => {
      const { person, ...member } = await memberAt('/auth/account/delete');
      return sending(member, 'delete.delete', { password: person.password });
    },
    AUTH_CREDENTIALS_INVALID: async () =>
      sending(await memberAt('/auth/account/delete'), 'delete.delete', { password: 'wrong' }),
    AUTH_CODE_INVALID: async () =>
      sending(await memberAt('/auth/account/delete', lenient), 'delete.delete', { code: '00000000' }),
  },
  'delete.confirmation-code': {
    success: async () => sending(await memberAt('/auth/account/delete', lenient), 'delete.confirmation-code'),
  },
  'log-out.log-out': {
    success: async () => {
      const member = await sending(await memberAt('/auth/log-out'), 'log-out.log-out');
      expect([...member.jar.keys()]).not.toContain('refresh_token');
      return member;
    },
  },
};

type Named = (typeof EVERY_FORM)[number];

/** The page that a result leads to, as the table has it. */
const stepOf = ({ page, form }: Named, of: string): PageName => {
  if (of in CATALOG) return form.onError?.[of as ErrorCode] ?? page;
  if (of in WITHOUT_SESSION) return WITHOUT_SESSION[of as keyof typeof WITHOUT_SESSION];
  if (of !== 'success') return form.showsOnce?.on ?? expect.unreachable();
  if (form.leadsTo !== 'target') return form.leadsTo;
  return form.withoutTarget ?? 'account';
};

/** What the page says then, once. */
const saidOf = ({ page, form }: Named, of: string): string | RegExp | undefined => {
  if (of in CATALOG)
    return of === 'AUTH_SECOND_FACTOR_REQUIRED' && form.onError?.[of]
      ? undefined
      : (titles[page]?.[of] ?? errors[of] ?? errors.other);
  if (of === 'url') return /<meta http-equiv="refresh" content="0; url=(http|com\.example\.app:)/;
  if (of === 'secret' || of === 'recoveryCodes') return of === 'secret' ? SHOWN_SECRET : RECOVERY_CODE;
  const isSilent =
    of === 'secondFactor' || (of === 'success' && form.leadsTo === 'target' && form.withoutTarget === undefined);
  if (of === 'code') return notices.registered;
  return isSilent ? undefined : notices[form.notice ?? ''];
};

const EVERY_RESULT = EVERY_FORM.flatMap((form) =>
  Object.entries(RESULTS[form.key] ?? {}).map(([of, send]) => {
    const [step, says] = [stepOf(form, of), saidOf(form, of)];
    const status = says === undefined ? 200 : (CATALOG[of as ErrorCode]?.status ?? 200);
    return { key: form.key, of, send, step, says, status };
  }),
);

describe('each result of a form', () => {
  it.each(EVERY_RESULT)('$key: $of leads to $step', async ({ send, step, says, status }) => {
    const visitor = await send();
    const answer = visitor.answers.at(-1) ?? expect.unreachable();
    const location = locationIn(answer).replace(/\?to=com\.example\.app.*/, '');
    expect([answer.status, location, answer.text]).toEqual([303, PAGES[step].path, '']);
    expect(answer.headers['cache-control']).toBe('no-store');
    const page = await visitor.follow();
    expect(page.status).toBe(status);
    const text = unescaped(page.text);
    expect(text).toContain(`<h1>${titles[step]?.title}</h1>`);
    if (says === undefined) return;
    expect(text).toMatch(says);
    // A page that is loaded again has forgotten it.
    const again = await visitor.open(PAGES[step].path);
    expect(unescaped(again.text)).not.toMatch(says);
  });

  it('is here: of every form, with each way that the table has', () => {
    expect(Object.keys(RESULTS).toSorted()).toEqual(EVERY_FORM.map(({ key }) => key).toSorted());
    for (const { key, form } of EVERY_FORM) {
      const others = form.withoutSession === undefined ? [] : ['secondFactor', 'code'];
      const ways = [form.showsOnce?.member ?? 'success', ...Object.keys(form.onError ?? {}), ...others];
      expect(Object.keys(RESULTS[key] ?? {}), key).toEqual(expect.arrayContaining(ways));
    }
  });
});

describe('an invited user, whose address the invitation proves', () => {
  it.each([
    ['done', {}],
    ['second-factor', { SECOND_FACTOR: 'required' }],
  ] as const)('is led to %s where other users have to verify their address', async (step, more) => {
    const visitor = await invited(await startWith({ EMAIL_VERIFICATION: 'required', ...more }));
    expect(locationIn(visitor.answers.at(-1) ?? expect.unreachable())).toBe(PAGES[step].path);
  });
});

describe('somebody whose address has to be verified', () => {
  const APP = 'https://app.example.org/notes';
  const registered = async () => {
    const [visitor, person] = [await at(pathOfPage('register', APP), verifying), aPerson()];
    await visitor.submit('register.register', person);
    return { ...visitor, person, text: unescaped((await visitor.follow()).text) };
  };
  const named = (email: string) => `<strong>${email}</strong>`;

  it('reads once where the mail went, and corrects the address at the page of registration', async () => {
    const { person, text, ...visitor } = await registered();
    expect(text).toContain(named(person.email));
    expect(visitor.shown('check-mail.verify')[0]?.fields.email).toBe(person.email);
    const [, link = ''] = /<a href="([^"]*)">Create your account again/.exec(text) ?? expect.unreachable();
    expect(link).toBe(pathOfPage('register', APP));
    await visitor.open(link);
    const { username, email, password } = person;
    expect(visitor.shown('register.register')[0]?.fields).toMatchObject({ username, email, password: '', to: APP });
    const right = aPerson().email;
    await visitor.submit('register.register', { email: right, password });
    expect(unescaped((await visitor.follow()).text)).toContain(named(right));
    expect(await verifying.ports.users.findByUsername(username)).toMatchObject({ email: right });
    expect(await verifying.ports.users.findByEmail(email)).toBeNull();
    for (const path of [PAGES['check-mail'].path, pathOfPage('register')])
      expect((await visitorOf(verifying).open(path)).text).not.toContain(right);
    expect((await visitor.open(PAGES['check-mail'].path)).text).not.toMatch(/strong|Create your account again|<form/);
  });

  it('corrects the address where no username is typed', async () => {
    const visitor = await at(
      pathOfPage('register'),
      await startWith({ EMAIL_VERIFICATION: 'required', PASSWORDS: 'optional' }),
    );
    await visitor.submit('register.register', { email: aPerson().email, password: '' });
    expect((await visitor.follow()).text).toContain('Create your account again');
  });

  it.each(['email', 'username'] as const)('is offered another link after a log-in with the %s', async (name) => {
    const { person, ...visitor } = await registered();
    await visitor.open(pathOfPage('log-in', APP));
    await visitor.submit('log-in.log-in', { account: person[name], password: person.password });
    expect(locationIn(visitor.answers.at(-1) ?? expect.unreachable())).toBe(pathOfPage('verify', APP));
    expect((await visitor.follow()).text).toContain('Create your account again');
    expect(visitor.shown('verify.verify')[0]?.fields.email).toBe(name === 'email' ? person.email : '');
    await visitor.submit('verify.verify', { email: person.email });
    const { text } = await visitor.follow();
    expect(text).toContain(named(unescaped(person.email)));
    expect(text).not.toContain('Create your account again');
  });
});

const OF_VISITORS = EVERY_FORM.filter(({ page }) => PAGES[page].audience === 'visitor');
const FOR_VISITORS = (Object.keys(PAGES) as PageName[]).filter((page) => PAGES[page].audience === 'visitor');
const EMPTY = { once: 'x'.repeat(43) };
/** Fields that may be empty, or that a script fills in. */
const OPTIONAL = ['remember', 'credential', 'locale', 'name'];
/** The API misses the password when the token of the link is there. */
const FILLED_LATER: Readonly<Record<string, readonly string[]>> = { 'email-change.email-change': ['password'] };
/** Only where users may have no password: `passwords-optional.test.ts`. */
const NOT_ASKED: Readonly<Record<string, readonly string[]>> = { 'account.email': ['code'], 'delete.delete': ['code'] };
/** Who sees these forms. */
const SHOWN_TO: Readonly<Record<string, () => Promise<Visitor>>> = {
  'second-factor.second-factor': async () => pendingOf(await withApp('/auth/account')),
  'second-factor.mail-code': async () => (await newDevice()).visitor,
  'second-factor.recovery': async () => pendingOf(await withApp('/auth/account')),
  'step-up.code': () => withApp('/auth/step-up'),
  'step-up.recovery': () => withApp('/auth/step-up'),
  'factors.app': async () => {
    const member = await memberAt('/auth/account/factors');
    await startApp(member);
    return member;
  },
};

describe('what all forms have in common', () => {
  it.each(FOR_VISITORS)('%s leads somebody who is not logged in to the log-in, and back', async (page) => {
    const visitor = visitorOf(service);
    const { status, headers } = await visitor.open(PAGES[page].path);
    expect([status, headers.location]).toEqual([303, pathOfPage('log-in', PAGES[page].path)]);
    const { person } = await memberAt('/auth/account');
    await visitor.follow();
    const answer = await visitor.submit('log-in.log-in', { account: person.username, password: person.password });
    expect(locationIn(answer)).toBe(PAGES[page].path);
  });

  it.each(OF_VISITORS)('$key does nothing for somebody who is not logged in', async ({ page, name }) => {
    const { status, headers } = await visitorOf(lenient).post(formPath(page, name), EMPTY);
    expect([status, headers.location]).toEqual([303, pathOfPage('log-in', PAGES[page].path)]);
  });

  const routeOf = (name: string) => lenient.routes.find((route) => route.name === name) ?? expect.unreachable();

  it('asks for a step-up where the API does: before the page, or else of the form', async () => {
    const member = await memberAt('/auth/account/factors');
    const { username, password } = member.person;
    const former = await at('/auth/log-in');
    await former.submit('log-in.log-in', { account: username, password });
    const secret = await startApp(member);
    await member.submit('factors.app', { code: codeAt(secret, clock.now()) });
    clock.advance(STEP);
    const asking = async (member: 'assurance' | 'recent') => {
      // Its route is for the form alone: app-login.test.ts.
      const ofRoutes = OF_VISITORS.filter(({ key }) => key !== 'app.app');
      const raised = ofRoutes.filter(({ form }) => routeOf(form.submits).stepUp?.[member] !== undefined);
      for (const { page, name } of raised) {
        const { headers } = await former.post(formPath(page, name), EMPTY);
        expect(headers.location, `${page}.${name}`).toBe(pathOfPage('step-up', PAGES[page].path));
      }
      return raised.map(({ key }) => key);
    };
    expect((await asking('assurance')).length).toBeGreaterThan(8);
    await former.open('/auth/account/factors');
    expect((await former.follow()).status).toBe(200);
    await former.submit('step-up.code', { code: codeAt(secret, clock.now()) });
    expect((await former.follow()).status).toBe(200);
    clock.advance(5 * MINUTE);
    expect(await asking('recent')).toEqual(expect.arrayContaining(['account.session', 'account.username']));
  });

  /** Forms with a field that has to be filled in. */
  const WITH_FIELDS = EVERY_FORM.filter(({ form: { fields } }) => fields.some((field) => !OPTIONAL.includes(field)));

  it.each(WITH_FIELDS)('$key leads back with each field marked that is empty', async ({ key, page, form }) => {
    const visitor = await (SHOWN_TO[key]?.() ?? (PAGES[page].audience === 'visitor' ? memberAt : at)(PAGES[page].path));
    const answer = await visitor.submit(key, Object.fromEntries(form.fields.map((field) => [field, ''])));
    expect(locationIn(answer)).toBe(PAGES[page].path);
    const { status, text } = await visitor.follow();
    expect(status).toBe(400);
    expect(unescaped(text)).toContain(errors.CLIENT_PARAMS_VALIDATION_FAILED);
    const [left, unasked] = [FILLED_LATER[key] ?? [], NOT_ASKED[key] ?? []];
    for (const field of unasked) expect(visitor.shown(key)[0]?.fields).not.toHaveProperty(field);
    for (const field of form.fields.filter((each) => ![...OPTIONAL, ...left, ...unasked].includes(each)))
      expect(text, field).toMatch(new RegExp(`<(input|select)\\b[^>]* name="${field}"[^>]* aria-invalid="true"`));
    expect((await visitor.open(PAGES[page].path)).status).toBe(200);
  });
});

describe('each page', () => {
  const PAGE_NAMES = Object.keys(PAGES) as PageName[];

  it('is led to by names of pages that there are, with notices that there are', () => {
    for (const { key, form } of EVERY_FORM) {
      const { leadsTo, withoutTarget, showsOnce, onError, notice } = form;
      const named = [leadsTo, withoutTarget, showsOnce?.on, ...Object.values(onError ?? {})].filter(
        (step) => step !== undefined,
      );
      expect([...PAGE_NAMES, 'target'], key).toEqual(expect.arrayContaining(named));
      if (notice !== undefined) expect(notices, key).toHaveProperty([notice]);
    }
  });

  it('has proofs signed for each form that takes one', () => {
    const signer = readText('client/src/device-key.ts');
    for (const { key, page, name } of EVERY_FORM.filter(({ form }) => takesProof(form)))
      expect(signer, key).toContain(`'${formPath(page, name).replace('/auth/', '')}'`);
  });

  it.each(PAGE_NAMES)('%s has a template with each of its forms, and an address of its own', (page) => {
    const template = templates.get(page) ?? '';
    const inLists = ['session', 'rename-passkey', 'remove-passkey', 'remove-app', 'provider', 'link', 'unlink'];
    const ofPage = Object.entries(PAGES[page].forms).filter(([, { buttonOf }]) => buttonOf === undefined);
    for (const form of ofPage.map(([each]) => each).filter((each) => !inLists.includes(each)))
      expect(template.split(`{{form.${form}}}`), form).toHaveLength(2);
    expect(PAGE_NAMES.filter((other) => PAGES[other].path === PAGES[page].path)).toEqual([page]);
  });

  it.each([
    ['/auth/account', 'account.password'],
    ['/auth/account/delete', 'delete.delete'],
  ])('%s says to those who have no password how they get one, if they need it', async (path, form) => {
    const visitor = await memberAt(path);
    const offer = () =>
      unescaped(visitor.answers.at(-1)?.text ?? '').includes(titles.account?.['first-password'] ?? '-');
    expect([offer(), visitor.shown(form)]).toEqual([false, [expect.anything()]]);
    await service.ports.users.setPasswordHash(visitor.user.id, {
      ...{ passwordHash: NO_PASSWORD, isOfNewPassword: false, now: clock.now() },
    });
    await visitor.open(path);
    expect([offer(), visitor.shown(form)]).toEqual([true, []]);
  });

  it.each(['https://evil.example/', '//evil.example/', '/auth/account/../../x', '/users/me', 'javascript:alert(1)'])(
    'that comes after a provider does not lead to %s',
    async (next) => {
      const { status, text } = await visitorOf(service).open(`/auth/provider?${new URLSearchParams({ next })}`);
      expect([status, text]).toEqual([400, expect.not.stringContaining('http-equiv')]);
    },
  );

  it('that leads to a provider leads to the log-in where no cookie tells it which', async () => {
    const { headers } = await visitorOf(service).open('/auth/provider');
    expect(headers.location).toBe('/auth/log-in?tandem=failed');
  });

  it.each(locales)('has its texts in %s: a title, a label for every field, a button for every form', (locale) => {
    const language = texts.get(locale) ?? expect.unreachable();
    for (const page of PAGE_NAMES) expect(language.pages[page]?.title, page).toMatch(/./);
    for (const { key, form } of EVERY_FORM) {
      expect(language.buttons[key], key).toMatch(/./);
      for (const field of form.fields.filter((each) => each !== 'credential'))
        expect(language.fields[field]?.label, field).toMatch(/./);
    }
  });
});

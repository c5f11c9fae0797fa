import fc from 'fast-check';
import { expect } from 'vitest';
import { confirmEmailChange } from '../../../src/application/accounts/confirm-email-change.ts';
import { requestEmailChange } from '../../../src/application/accounts/request-email-change.ts';
import { takeAccountBack } from '../../../src/application/accounts/take-account-back.ts';
import { confirmEmail, requestEmailVerification } from '../../../src/application/accounts/verify-email.ts';
import { finishLogin } from '../../../src/application/factors/finish-login.ts';
import { logInWithPasskey, passkeyChallenge } from '../../../src/application/factors/log-in-with-passkey.ts';
import { confirmApp, removeApp, startApp } from '../../../src/application/factors/manage-factors.ts';
import { addPasskey, invitePasskey } from '../../../src/application/factors/manage-passkeys.ts';
import { stepUp } from '../../../src/application/factors/step-up.ts';
import { login } from '../../../src/application/login/login.ts';
import type { IdGenerator } from '../../../src/application/ports/id-generator.ts';
import type { Storage } from '../../../src/application/ports/unit-of-work.ts';
import { assuranceOf } from '../../../src/domain/assurance.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { LINK_PURPOSES, type LinkPurpose } from '../../../src/domain/link.ts';
import { ADA, application, MINUTE, SECOND } from '../application.ts';
import { authenticator } from '../authenticator.ts';
import { codeAt } from '../authenticator-app.ts';
import { applicationWithMail } from '../mail/sender.ts';

/** A step of an authenticator app. */
const STEP = 30 * SECOND;

const LOG_INS = ['log-in', 'finish-with-code', 'finish-with-recovery-code'] as const;
const OF_PASSKEYS = [
  'finish-with-passkey',
  'passkey-log-in',
  'unverified-passkey-log-in',
  'step-up-with-passkey',
] as const;
const OF_SESSIONS = ['step-up', 'step-up-with-code', 'refresh', 'end-others', 'wait'] as const;
const OF_PASSWORDS = ['change-password', 'ask-for-reset', 'reset-password'] as const;
const OF_ADDRESSES = ['ask-for-verification', 'verify', 'ask-for-new-address', 'take-new-address'] as const;
const RARE = ['remove', 'take-new-address-with-password', 'take-address-back'] as const;
/** Without these, most of the others are refused. */
const OFTEN = [
  'log-in',
  'finish-and-remember',
  'enrol',
  'add-passkey',
  'ask-for-reset',
  'ask-for-new-address',
] as const;
const OPERATIONS = [...LOG_INS, ...OF_PASSKEYS, ...OF_SESSIONS, ...OF_PASSWORDS, ...OF_ADDRESSES, ...RARE, ...OFTEN];
type Operation = (typeof OPERATIONS)[number];

/** What Ada does in one of her two browsers. */
type Step = { readonly operation: Operation; readonly browser: number };

export const programs = ({ maxLength }: { readonly maxLength: number }): fc.Arbitrary<Step[]> => {
  const operation = fc.oneof({ arbitrary: fc.constantFrom(...OPERATIONS), weight: 2 }, fc.constantFrom(...OFTEN));
  return fc.array(fc.record({ operation, browser: fc.nat({ max: 1 }) }), { maxLength, size: 'max' });
};

type Shown = 'password' | 'code' | 'passkey' | 'verified-passkey';

/** A second, simple implementation of what proofs add up to. */
const isOfTwoFactors = (shown: ReadonlySet<Shown>): boolean =>
  shown.has('verified-passkey') || (shown.has('password') && shown.size > 1);

/** Where sessions and users are kept, and what numbers them. */
export type World = { readonly storage: Storage; readonly ids: IdGenerator };

/**
 * Ada does one thing after the other. What the service refuses changes nothing for her. After each step, every session has to be of the
 * assurance that was shown in it, and of two factors if Ada had a second one when it was opened, and the device was not remembered. In the
 * end Ada gets in.
 */
export const play = async (world: World, steps: readonly Step[]): Promise<void> => {
  const ada = await begin(world);
  for (const step of steps) {
    await ada.take(step);
    await ada.check(step.operation);
  }
  await ada.comeBack();
  await ada.check('come back');
};

type Browser = {
  sessionId: string;
  refreshToken: string;
  pending: string[];
  remembered: string[];
  isRemembered: boolean;
};

const begin = async ({ storage, ids }: World) => {
  const notices = new Set(['email'] as const);
  const app = applicationWithMail({ ...storage, notices }, application({ ...storage, ids }));
  const deps = { ...app, notices, webauthn: app.webauthn };
  const name = ids.next().slice(-8);
  const person = { ...ADA, username: `Ada${name}`, email: `ada.${name}@example.org` };
  const { user, sessionId, refreshToken } = await app.register(person);
  const userId = user.id;
  const key = authenticator({ rpId: 'localhost', origin: 'http://localhost' });
  const browsers = [0, 1].map(
    (): Browser => ({
      sessionId,
      refreshToken,
      pending: [],
      remembered: [],
      isRemembered: false,
    }),
  );
  /** What was shown in each session. */
  const shownIn = new Map<string, ReadonlySet<Shown>>([[sessionId, new Set(['password'])]]);
  /** The sessions that were opened while Ada had a second factor, and those among them whose device was remembered. */
  const ofEnrolled = new Set<string>();
  const ofRemembered = new Set<string>();
  const seen = new Set([sessionId]);
  const links = new Map<LinkPurpose, string>();
  const apps: { readonly id: string; readonly secret: string }[] = [];
  let password = ADA.password;
  let recoveryCodes: string[] = [];
  let changes = 0;
  let wasEnrolled = false;

  const stored = async () => (await app.users.findById(userId)) ?? expect.unreachable('Ada is gone');
  const linkOf = (purpose: LinkPurpose) => links.get(purpose) ?? 'none';
  const open = (browser: Browser, opened: { sessionId: string; refreshToken: string }, ...shown: Shown[]) => {
    shownIn.set(opened.sessionId, new Set(shown));
    browser.sessionId = opened.sessionId;
    browser.refreshToken = opened.refreshToken;
  };
  const raise = (id: string, shown: Shown) => shownIn.set(id, new Set([...(shownIn.get(id) ?? []), shown]));
  /** The session that is replaced has shown the same. */
  const replace = async (browser: Browser, pair: { refreshToken: string } | null, ...shown: Shown[]) => {
    if (pair === null) return;
    const verified = await app.tokens.verifyRefresh(pair.refreshToken, app.clock.now());
    const opened = verified.ok ? verified.token.sessionId : expect.unreachable(verified.reason);
    const before = shownIn.get(browser.sessionId) ?? [];
    open(browser, { sessionId: opened, refreshToken: pair.refreshToken }, ...before, ...shown);
  };
  const caller = (browser: Browser) => ({ userId, sessionId: browser.sessionId });
  const request = (browser: Browser) => ({ ...caller(browser), tokenIssuedAt: app.clock.now() / SECOND });
  /** That of a step which was not used. */
  const code = (): string => {
    app.clock.advance(STEP);
    return codeAt(apps.at(-1)?.secret ?? 'A'.repeat(32), app.clock.now());
  };
  const credential = (isUserVerified: boolean) => {
    const { challenge } = passkeyChallenge(deps)();
    return key.get({ challenge: Buffer.from(challenge).toString('base64url') }, { isUserVerified });
  };
  const finish = async (
    browser: Browser,
    factor: Parameters<ReturnType<typeof finishLogin>>[0]['factor'],
    shown: Shown,
    remember = false,
  ) => {
    const { pending: pendingLogins, remembered: rememberedDevices } = browser;
    const finished = await finishLogin(deps)({ pendingLogins, factor, remember, rememberedDevices });
    open(browser, finished.opened, 'password', shown);
    if (finished.rememberedDevice === null) return;
    browser.remembered = [...rememberedDevices, finished.rememberedDevice];
    browser.isRemembered = true;
  };
  const forgetDevices = () => {
    for (const browser of browsers) browser.isRemembered = false;
  };
  const step = async (browser: Browser, shown: Parameters<ReturnType<typeof stepUp>>[0]['shown'], as: Shown) => {
    await stepUp(deps)({ ...request(browser), shown, presented: { proof: null } });
    raise(browser.sessionId, as);
  };
  const logInWithKey = async (browser: Browser, isUserVerified: boolean) => {
    const opened = await logInWithPasskey(deps)({ credential: credential(isUserVerified) });
    open(browser, opened, isUserVerified ? 'verified-passkey' : 'passkey');
  };
  const logIn = async (browser: Browser) => {
    const { remembered: rememberedDevices, isRemembered } = browser;
    const result = await login(deps)({ account: person.username, password, rememberedDevices });
    expect('pendingLogin' in result).toBe(wasEnrolled && !isRemembered);
    if ('pendingLogin' in result) {
      browser.pending = [result.pendingLogin, ...browser.pending];
      return;
    }
    open(browser, result, 'password');
    if (wasEnrolled) ofRemembered.add(result.sessionId);
  };
  const nextPassword = () => {
    changes += 1;
    return `another horse ${changes}`;
  };
  const loseFactors = () => {
    apps.length = 0;
    recoveryCodes = [];
    forgetDevices();
  };
  /** What proves the address for the first time takes everything that was added before. */
  const prove = async (act: () => Promise<unknown>) => {
    const isProven = (await stored()).emailVerifiedAt !== null;
    await act();
    if (!isProven) loseFactors();
  };
  const reset = async () => {
    const newPassword = nextPassword();
    await prove(() => app.resetPassword({ token: linkOf('password-reset'), newPassword }));
    password = newPassword;
    forgetDevices();
  };
  const askForReset = async () => app.requestPasswordReset((await stored()).email);

  const operations: Readonly<Record<Operation, (browser: Browser) => Promise<unknown>>> = {
    'log-in': logIn,
    'finish-with-code': (browser) => finish(browser, { code: code() }, 'code'),
    'finish-and-remember': (browser) => finish(browser, { code: code() }, 'code', true),
    'finish-with-recovery-code': (browser) => finish(browser, { recoveryCode: recoveryCodes.pop() ?? 'none' }, 'code'),
    'finish-with-passkey': (browser) => finish(browser, { credential: credential(false) }, 'passkey'),
    'add-passkey': async (browser) => {
      const { challenge, userHandle } = await invitePasskey(deps)(caller(browser));
      const options = { challenge: Buffer.from(challenge).toString('base64url'), user: { id: userHandle } };
      await addPasskey(deps)(caller(browser), { credential: key.create(options) });
    },
    'passkey-log-in': (browser) => logInWithKey(browser, true),
    'unverified-passkey-log-in': (browser) => logInWithKey(browser, false),
    'step-up-with-passkey': (browser) => step(browser, { credential: credential(false) }, 'passkey'),
    enrol: async (browser) => {
      const started = await startApp(deps, app.secrets.factors)(caller(browser));
      const first = codeAt(started.secret, app.clock.now());
      const codes = await confirmApp(deps)({ ...request(browser), id: started.id, code: first });
      apps.push(started);
      recoveryCodes.push(...codes);
      raise(browser.sessionId, 'code');
    },
    remove: async (browser) => {
      await removeApp(deps)(caller(browser), apps.at(-1)?.id ?? 'none');
      apps.pop();
      if (apps.length > 0) return;
      recoveryCodes = [];
      forgetDevices();
    },
    'step-up': (browser) => step(browser, { password }, 'password'),
    'step-up-with-code': (browser) => step(browser, { code: code() }, 'code'),
    wait: async () => app.clock.advance(MINUTE),
    refresh: async (browser) => {
      const { refreshToken: next } = await app.refresh([browser.refreshToken]);
      browser.refreshToken = next;
    },
    'end-others': async (browser) => {
      const presented = [browser.refreshToken];
      await replace(browser, await app.endOtherSessions({ ...caller(browser), presented }));
      forgetDevices();
    },
    'change-password': async (browser) => {
      const newPassword = nextPassword();
      const input = { ...request(browser), currentPassword: password, newPassword };
      await replace(browser, await app.changePassword(input), 'password');
      password = newPassword;
      forgetDevices();
    },
    'ask-for-reset': askForReset,
    'reset-password': reset,
    'ask-for-verification': async () => requestEmailVerification(deps)((await stored()).email),
    verify: () => prove(() => confirmEmail(deps)({ token: linkOf('email-verification') })),
    'ask-for-new-address': (browser) => {
      changes += 1;
      return requestEmailChange(deps)({ ...request(browser), password, email: `ada.${name}.${changes}@example.org` });
    },
    'take-new-address': async (browser) => {
      const confirmation = { token: linkOf('email-change'), session: { id: browser.sessionId, userId } };
      await replace(browser, await confirmEmailChange(deps)(confirmation));
    },
    'take-new-address-with-password': () =>
      prove(() => confirmEmailChange(deps)({ token: linkOf('email-change'), password })),
    'take-address-back': async () => {
      await takeAccountBack(deps, 'email-change-undo')({ token: linkOf('email-change-undo') });
      // The program takes minutes, and the link undoes what was added in the week before.
      loseFactors();
    },
  };

  /** Keeps the latest link of each purpose. */
  const readMails = async () => {
    for (const { text } of await app.sendAll())
      for (const purpose of LINK_PURPOSES) {
        const [, token] = new RegExp(`/${purpose}#token=([A-Za-z0-9_-]+)$`, 'm').exec(text) ?? [];
        if (token !== undefined) links.set(purpose, token);
      }
  };
  const take = async ({ operation, browser }: Step) => {
    app.clock.advance(SECOND);
    wasEnrolled = (await stored()).secondFactorAt !== null;
    await operations[operation](browsers[browser] ?? expect.unreachable()).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.status >= 500) throw error;
    });
    await readMails();
  };
  const check = async (after: string) => {
    expect([after, (await stored()).secondFactorAt !== null]).toEqual([after, apps.length > 0]);
    const sessions = await app.sessions.listByUser(userId, app.clock.now());
    for (const { id, amr } of sessions) {
      if (!seen.has(id) && wasEnrolled) ofEnrolled.add(id);
      seen.add(id);
      const shown = shownIn.get(id) ?? expect.unreachable(`${after} opened a session that nobody holds`);
      const assurance = isOfTwoFactors(shown) ? 'aal2' : 'aal1';
      expect([after, assuranceOf(amr)]).toEqual([after, assurance]);
      if (ofEnrolled.has(id) && !ofRemembered.has(id)) expect([after, assurance]).toEqual([after, 'aal2']);
    }
  };
  const comeBack = async () => {
    // Requests for links are limited by the hour.
    app.clock.advance(61 * MINUTE);
    await askForReset();
    await readMails();
    await reset();
    wasEnrolled = (await stored()).secondFactorAt !== null;
    const [browser = expect.unreachable()] = browsers;
    const before = browser.sessionId;
    await logIn(browser);
    if (wasEnrolled) await finish(browser, { code: code() }, 'code');
    expect(browser.sessionId, 'Ada is out').not.toBe(before);
  };
  return { take, check, comeBack };
};

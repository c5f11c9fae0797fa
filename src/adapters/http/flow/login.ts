import { isStarted, type PageFacts, startedApp } from '../forms/page-facts.ts';
import { AT_PROVIDER, BY_CODE, CODES, hasCodes, hasPasskeys, NEW_ACCOUNT, OFFERS, type PageTable } from './rows.ts';

const HALF_WAY = { AUTH_SECOND_FACTOR_REQUIRED: 'second-factor' } as const;
const typedAccount = ({ state }: PageFacts) => ({ account: state?.typed?.account ?? '' });
/** The second view of the log-in, which is the same for every account that was typed. */
const isSecond = ({ state }: PageFacts): boolean => state?.form === 'log-in';
const isGiven = ({ state }: PageFacts): boolean =>
  !!state?.typed?.account && !state.error?.fields.some(({ field }) => field === 'account');
/** The second view has them, too, if the account is not known any more. */
const OF_FIRST = { recalled: true, offered: (facts: PageFacts) => !isSecond(facts) || !isGiven(facts) } as const;
const mayRegister = (facts: PageFacts): boolean => facts.mayRegister;

const SECOND = { submits: 'second-factor', leadsTo: 'target' } as const;
const hasMethod = ({ payloads }: PageFacts, name: 'totp' | 'recovery-code' | 'passkey' | 'mail-code'): boolean =>
  payloads['pending-login']?.methods.includes(name) === true;
const mayTypeCode = (facts: PageFacts): boolean => hasMethod(facts, 'totp') || isStarted(facts);
/** Whether the log-in needs a code from a mail. With NEW_DEVICE_CODE it pretends so after a wrong password, too. */
export const waitsForMail = (facts: PageFacts): boolean => hasMethod(facts, 'mail-code');

/** Pages on which visitors log in, register, and show who they are. */
export const LOGIN = {
  'log-in': {
    path: '/auth/log-in',
    for: 'stranger',
    second: { form: 'log-in', next: 'password' },
    forms: {
      account: {
        ...{ submits: 'name-account', fields: ['account'], keeps: ['account'] },
        leadsTo: 'log-in',
        ...{ offered: (facts) => !isSecond(facts), recalled: ['log-in', 'code'] },
      },
      'log-in': {
        ...{ submits: 'login', fields: ['account', 'password'], recalled: true },
        ...{ offered: isSecond, requirements: { account: (facts) => (isGiven(facts) ? 'given' : 'required') } },
        leadsTo: 'target',
        onError: { ...HALF_WAY, AUTH_EMAIL_UNVERIFIED: 'verify' },
        ...OFFERS,
      },
      code: { ...BY_CODE, fields: ['account'], buttonOf: 'log-in', offered: hasCodes, recalled: true },
      passkey: { submits: 'passkey-login', fields: ['credential'], leadsTo: 'target', autofill: true, ...OF_FIRST },
      provider: { ...AT_PROVIDER, ...OFFERS, ...OF_FIRST },
    },
  },
  /** Goes on to a provider, with or without a script. */
  provider: { path: '/auth/provider', leadsOn: 'to-url', forms: {} },
  /** Goes on to an app, with a code for a session of its own. It asks for a click, since any website or app can lead here. */
  app: {
    ...{ path: '/auth/app', for: 'visitor', stepUp: true, leadsOn: 'to-app' },
    shows: ['current-user'],
    // Where the page cannot have the key of the session, the visitor logs in again.
    forms: { app: { ...AT_PROVIDER, submits: 'make-app-code', onError: { AUTH_DEVICE_UNPROVEN: 'log-in' } } },
  },
  /** Takes the code of a mail. The link in the mail leads here as well, and does nothing by itself. */
  code: {
    path: '/auth/code',
    forms: {
      code: {
        submits: 'confirm-login-code',
        fields: ['code'],
        leadsTo: 'target',
        onError: HALF_WAY,
        initial: typedAccount,
      },
      again: { ...BY_CODE, fields: ['account'], paced: true, initial: typedAccount },
    },
  },
  register: {
    path: '/auth/register',
    for: 'stranger',
    registers: 'anybody',
    forms: {
      register: {
        ...{ submits: 'register', fields: ['username', 'email', 'password'], notice: 'mailed' },
        leadsTo: 'target',
        accepted: { mail: 'check-mail', login: 'second-factor', code: 'log-in' },
        keeps: ['username', 'email'],
        requirements: NEW_ACCOUNT,
        offered: mayRegister,
        // Users without a password are asked each time: a passkey may be their best way in.
        offersPasskey: ({ wasOffered, passwords }) => !wasOffered || passwords === 'optional',
      },
      provider: { ...AT_PROVIDER, offered: mayRegister, recalled: true, ...OFFERS },
    },
  },
  /** Follows a log-in or a registration. */
  'new-passkey': {
    ...{ path: '/auth/new-passkey', for: 'visitor', stepUp: true, skips: hasPasskeys },
    shows: ['current-user', 'passkey-options'],
    forms: {
      'new-passkey': {
        ...{ submits: 'add-passkey', fields: ['credential'], mark: 'logged-in', silent: true },
        leadsTo: 'target',
        shows: CODES,
      },
    },
  },
  'second-factor': {
    path: '/auth/second-factor',
    shows: ['pending-login'],
    forms: {
      'second-factor': {
        ...SECOND,
        ...{ fields: ['code', 'remember'], initial: startedApp, offered: mayTypeCode },
        shows: CODES,
      },
      'mail-code': { ...SECOND, fields: ['mailCode'], offered: waitsForMail },
      recovery: {
        ...{ ...SECOND, fields: ['recoveryCode', 'remember'], foldedBehind: 'another-way' },
        offered: (facts) => hasMethod(facts, 'recovery-code'),
        // The page shows this field once.
        requirements: { remember: (facts) => (mayTypeCode(facts) ? 'left-out' : 'optional') },
      },
      passkey: { ...SECOND, fields: ['credential'], offered: (facts) => hasMethod(facts, 'passkey') },
      'start-app': {
        ...{ submits: 'start-pending-totp', fields: [] },
        leadsTo: 'second-factor',
        shows: { member: 'secret', on: 'second-factor' },
        offered: (facts) => facts.payloads['pending-login']?.enrol === true && !isStarted(facts),
      },
    },
  },
  'recovery-codes': { path: '/auth/recovery-codes', for: 'visitor', shows: ['current-user'], forms: {} },
  /** For sessions whose device has a key: only a script can sign a proof. */
  prove: {
    path: '/auth/prove',
    leadsOn: 'when-proven',
    forms: {
      prove: {
        ...{ submits: 'refresh', fields: [] },
        leadsTo: 'target',
        onError: { AUTH_DEVICE_UNPROVEN: 'log-in', AUTH_FAILED: 'log-in' },
      },
    },
  },
} as const satisfies PageTable;

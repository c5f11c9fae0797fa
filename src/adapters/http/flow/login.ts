import { hasStartedApp, type PageFacts, startedApp } from '../forms/page-facts.ts';
import {
  hasPasskeys,
  LOGIN_CODE_FORM,
  NEW_ACCOUNT_REQUIREMENTS,
  OFFERS_PASSKEY,
  type PageTable,
  PROVIDER_FORM,
  RECOVERY_CODES,
  WITHOUT_SESSION,
} from './rows.ts';

const TO_SECOND_FACTOR = { AUTH_SECOND_FACTOR_REQUIRED: 'second-factor' } as const;
const typedTexts = ({ state }: PageFacts) => ({ account: '', ...state?.typed });
/** The second view of the log-in asks for the password, and for the account if that is missing or was refused. */
const isSecondView = ({ state }: PageFacts): boolean => state?.form === 'log-in';
const hasTypedAccount = ({ state }: PageFacts): boolean =>
  !!state?.typed?.account && !state.error?.fields.some(({ field }) => field === 'account');
const asksForAccount = (facts: PageFacts): boolean => !isSecondView(facts) || !hasTypedAccount(facts);
const mayRegister = (facts: PageFacts): boolean => facts.mayRegister;

const SECOND_FACTOR_FORM = { submits: 'second-factor', leadsTo: 'target' } as const;
const hasMethod = ({ payloads }: PageFacts, name: 'totp' | 'recovery-code' | 'passkey' | 'mail-code'): boolean =>
  payloads['pending-login']?.methods.includes(name) === true;
const takesAppCode = (facts: PageFacts): boolean => hasMethod(facts, 'totp') || hasStartedApp(facts);
/** Whether the log-in waits for a code from a mail (NEW_DEVICE_CODE). Its password may have been wrong, which the page must not betray. */
export const waitsForMailCode = (facts: PageFacts): boolean => hasMethod(facts, 'mail-code');

export const LOGIN_PAGES = {
  'log-in': {
    path: '/auth/log-in',
    audience: 'stranger',
    secondView: { form: 'log-in', next: 'password' },
    forms: {
      account: {
        ...{ submits: 'name-account', fields: ['account'], keptFields: ['account'] },
        leadsTo: 'log-in',
        ...{ isOffered: (facts) => !isSecondView(facts), marksLastUse: ['log-in', 'code'] },
      },
      'log-in': {
        ...{ submits: 'login', fields: ['account', 'password'], marksLastUse: true },
        requirements: { account: (facts) => (hasTypedAccount(facts) ? 'typed' : 'required') },
        ...{ isOffered: isSecondView },
        leadsTo: 'target',
        onError: { ...TO_SECOND_FACTOR, AUTH_EMAIL_UNVERIFIED: 'verify' },
        ...OFFERS_PASSKEY,
      },
      code: { ...LOGIN_CODE_FORM, fields: ['account'], buttonOf: 'log-in', marksLastUse: true },
      passkey: {
        ...{ submits: 'passkey-login', fields: ['credential'], isOffered: asksForAccount },
        ...{ autofillsPasskeys: true, marksLastUse: true },
        leadsTo: 'target',
      },
      provider: { ...PROVIDER_FORM, ...OFFERS_PASSKEY, isOffered: asksForAccount, marksLastUse: true },
    },
  },
  /** Leads on by `<meta http-equiv="refresh">`, without a script: for instance to a provider, or after a provider to the page in `next`. */
  provider: { path: '/auth/provider', forwards: 'to-url', forms: {} },
  /** Opens an app, or the back office, with a code for a session of its own. It asks for a click, since any website can link to this page. */
  app: {
    ...{ path: '/auth/app', audience: 'visitor', stepUp: true, forwards: 'to-app' },
    shows: ['current-user'],
    // A page that lacks the key of the session cannot prove the device, so the visitor logs in again.
    forms: { app: { ...PROVIDER_FORM, submits: 'make-app-code', onError: { AUTH_DEVICE_UNPROVEN: 'log-in' } } },
  },
  /** The user types the code from a mail. The link in the mail does not log in by itself. */
  code: {
    path: '/auth/code',
    forms: {
      code: {
        ...{ submits: 'confirm-login-code', fields: ['code'], defaults: typedTexts },
        leadsTo: 'target',
        onError: TO_SECOND_FACTOR,
      },
      again: { ...LOGIN_CODE_FORM, fields: ['account'], resendsMail: true, defaults: typedTexts },
    },
  },
  register: {
    path: '/auth/register',
    audience: 'stranger',
    registers: 'anybody',
    forms: {
      register: {
        ...{ submits: 'register', fields: ['username', 'email', 'password'], notice: 'mailed' },
        leadsTo: 'target',
        withoutSession: WITHOUT_SESSION,
        keptFields: ['username', 'email'],
        requirements: NEW_ACCOUNT_REQUIREMENTS,
        isOffered: mayRegister,
        // Where passwords are optional, a passkey is offered even to a browser that was offered one: it may be the user's best way to log in.
        offersPasskey: ({ wasOfferedPasskey, passwords }) => !wasOfferedPasskey || passwords === 'optional',
      },
      provider: { ...PROVIDER_FORM, isOffered: mayRegister, marksLastUse: true, ...OFFERS_PASSKEY },
    },
  },
  /** Offers a passkey after a log-in or a registration. */
  'new-passkey': {
    ...{ path: '/auth/new-passkey', audience: 'visitor', stepUp: true, isSkipped: hasPasskeys },
    shows: ['current-user', 'passkey-options'],
    forms: {
      'new-passkey': {
        ...{ submits: 'add-passkey', fields: ['credential'], mark: 'logged-in', conditionalCreate: true },
        leadsTo: 'target',
        showsOnce: RECOVERY_CODES,
      },
    },
  },
  'second-factor': {
    path: '/auth/second-factor',
    shows: ['pending-login'],
    forms: {
      'second-factor': {
        ...SECOND_FACTOR_FORM,
        ...{ fields: ['code', 'remember'], defaults: startedApp, isOffered: takesAppCode },
        showsOnce: RECOVERY_CODES,
      },
      'mail-code': { ...SECOND_FACTOR_FORM, fields: ['mailCode'], isOffered: waitsForMailCode },
      recovery: {
        ...{ ...SECOND_FACTOR_FORM, fields: ['recoveryCode', 'remember'], foldedBehind: 'another-way' },
        isOffered: (facts) => hasMethod(facts, 'recovery-code'),
        // The form for the code of the app, if the page has it, already has this field.
        requirements: { remember: (facts) => (takesAppCode(facts) ? 'left-out' : 'optional') },
      },
      passkey: { ...SECOND_FACTOR_FORM, fields: ['credential'], isOffered: (facts) => hasMethod(facts, 'passkey') },
      'start-app': {
        ...{ submits: 'start-pending-totp', fields: [] },
        leadsTo: 'second-factor',
        showsOnce: { member: 'secret', on: 'second-factor' },
        isOffered: (facts) => facts.payloads['pending-login']?.enrol === true && !hasStartedApp(facts),
      },
    },
  },
  'recovery-codes': { path: '/auth/recovery-codes', audience: 'visitor', shows: ['current-user'], forms: {} },
  /** Proves the key of the session's device. */
  prove: {
    path: '/auth/prove',
    forwards: 'when-proven',
    forms: {
      prove: {
        ...{ submits: 'refresh', fields: [] },
        leadsTo: 'target',
        onError: { AUTH_DEVICE_UNPROVEN: 'log-in', AUTH_FAILED: 'log-in' },
      },
    },
  },
} as const satisfies PageTable;

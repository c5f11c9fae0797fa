import type { ErrorCode } from '../../../domain/errors/catalog.ts';
import type { LinkPurpose } from '../../../domain/link.ts';
import { isStarted, type PageFacts, startedApp } from './page-facts.ts';

/**
 * The pages for users, and where each result of their forms leads. A form submits to a route of the API: it has its schema, limits, guard,
 * use case and errors, and knows no other rule. ADR 0024.
 */

/** Where a result leads: a page, or what the visitor came for. */
export type Step = PageName | 'target';

/** @template Name those of the pages. The table itself is written without, since its names make them. */
export type Form<Name extends string = PageName> = {
  /** The name of the route that the form submits to. */
  readonly submits: string;
  /** What is filled in or chosen: members of the body, the query and the params of that route. */
  readonly fields: readonly string[];
  /** A field that the form needs, which the route could do without. */
  readonly needs?: string;
  /** Fields that need not always be filled in. */
  readonly eases?: Readonly<Record<string, (facts: PageFacts) => 'required' | 'optional' | 'left-out'>>;
  /** When the form is there; always, unless given. */
  readonly offered?: (facts: PageFacts) => boolean;
  /** What its fields, and hidden ones, begin with. */
  readonly begins?: (facts: PageFacts) => Readonly<Record<string, string>>;
  /** Where a success leads. */
  readonly leadsTo: Name | 'target';
  /** Where it leads if the visitor came for nothing else; the account, unless given. */
  readonly otherwise?: Name;
  /** Where a success leads whose payload has this member, which the page shows once. */
  readonly shows?: { readonly member: string; readonly on: Name };
  /** Where a success leads without a session: it waits for a mail, for the second half of a log-in, or for a log-in with a code. */
  readonly accepted?: { readonly mail: Name; readonly login: Name; readonly code: Name };
  /** Errors that lead to another page. All others lead back to the form. */
  readonly on?: Readonly<Partial<Record<ErrorCode, Name>>>;
  /** The notice that the page shows to which it leads. */
  readonly notice?: string;
  /** What the target is told, unless the form has opened a session. */
  readonly tells?: 'logged-in' | 'logged-out';
  /** What was typed into these fields is handed on to the page to which it leads. */
  readonly keeps?: readonly string[];
  /** The form of the page that has it as another button: it sends the fields of that one. */
  readonly buttonOf?: string;
  /** The text of `common` behind which the form is, until somebody presses it. */
  readonly behind?: 'change' | 'rename' | 'another-way';
  /** The route that tells what the form's link would do, by its path. The script asks it, and shows the answer before a click. */
  readonly preview?: `/auth/${string}`;
  /** Browsers offer its passkey in the field of the account. */
  readonly autofill?: true;
  /** Browsers make its passkey without a question where they can. */
  readonly silent?: true;
  /** Whether its success leads to `new-passkey` first, where the device can make a passkey. */
  readonly offers?: (facts: PageFacts) => boolean;
  /** Its button says the next time that it was used. */
  readonly recalled?: true;
  /** Sends another mail. Right after the first one, its button waits for a minute: the stylesheet counts. */
  readonly paced?: true;
  /** Browsers show at passkeys the name that it changes. */
  readonly renames?: true;
  /** Has a button for those providers alone with which the user can log in. */
  readonly linkedOnly?: true;
  /** A sign-in at a provider leads back to the page. */
  readonly returns?: true;
};

export type Page<Name extends string = PageName> = {
  readonly path: `/auth/${string}`;
  /** `visitor`: those who are logged in; the others are asked to log in first. `stranger`: those who are logged in go on. Default: anybody. */
  readonly for?: 'visitor' | 'stranger';
  /**
   * Where it leads on to: the URL in its state, or the page of the service that `next` has; the app in `to`; what the visitor came for, once
   * the key is proven, which the application in `next` may have.
   */
  readonly leadsOn?: 'to-url' | 'to-app' | 'when-proven';
  /** Whose accounts its form makes: of anybody, as long as the operator lets anybody register, or of those who were invited. */
  readonly registers?: 'anybody' | 'invited';
  /** The page whose form can be sent again, if the address is mistyped to which a mail has gone. */
  readonly corrects?: Name;
  /** Whether the visitor has to have presented a factor a moment ago. Asked for before the forms. */
  readonly stepUp?: true;
  /** Who need not see the page, and goes on to what they came for; with `stepUp`, also who lacks that. */
  readonly skips?: (facts: Pick<PageFacts, 'payloads'>) => boolean;
  /** The names of routes whose payloads the page shows. */
  readonly shows?: readonly string[];
  /** Whether links in mail lead there, or from there: then the page is there whenever the service has the pages for them. */
  readonly ofMail?: true;
  /** By name. The one that is called as its page has the path of the page, the others one below it. */
  readonly forms: Readonly<Record<string, Form<Name>>>;
};

/** Recovery codes are shown once. */
const CODES = { member: 'recoveryCodes', on: 'recovery-codes' } as const;

/** A button for each provider. Another site is reached from a page of its own: browsers check where a form leads against the policy of its page. */
const AT_PROVIDER = {
  submits: 'start-at-provider',
  fields: [],
  leadsTo: 'provider',
  shows: { member: 'url', on: 'provider' },
} as const;

/** Where users need no password, a username is derived. */
const NEW_ACCOUNT = {
  username: ({ passwords }: PageFacts) => (passwords === 'optional' ? 'left-out' : 'required'),
  password: ({ passwords }: PageFacts) => passwords,
} as const;
const INVITED = { needs: 'invitation', eases: NEW_ACCOUNT } as const;

/** A change that the password confirms, or a code where users may have none. */
const CONFIRMED = {
  password: ({ passwords }: PageFacts) => passwords,
  code: ({ passwords }: PageFacts) => (passwords === 'optional' ? 'optional' : 'left-out'),
} as const;

/** Once a month. */
const OFFERS = { offers: ({ wasOffered }: PageFacts) => !wasOffered } as const;
const HALF_WAY = { AUTH_SECOND_FACTOR_REQUIRED: 'second-factor' } as const;
const BY_CODE = { submits: 'request-login-code', leadsTo: 'code', notice: 'code', keeps: ['account'] } as const;
const hasCodes = ({ pages }: PageFacts): boolean => pages.has('code');
const typedAccount = ({ state }: PageFacts) => ({ account: state?.typed?.account ?? '' });
const ownText =
  (member: 'username' | 'email' | 'locale', field: string = member) =>
  ({ payloads }: PageFacts) => ({ [field]: payloads['current-user']?.[member] ?? '' });

const SECOND = { submits: 'second-factor', leadsTo: 'target' } as const;
const STEP_UP = { submits: 'step-up', leadsTo: 'target' } as const;
const hasMethod = ({ payloads }: PageFacts, name: 'totp' | 'recovery-code' | 'passkey' | 'mail-code'): boolean =>
  payloads['pending-login']?.methods.includes(name) === true;
const mayTypeCode = (facts: PageFacts): boolean => hasMethod(facts, 'totp') || isStarted(facts);
/** Whether the visitor has to show that the mail of the account is theirs, or has typed a wrong password. */
export const waitsForMail = (facts: PageFacts): boolean => hasMethod(facts, 'mail-code');
const mayRecover = (facts: PageFacts): boolean => hasMethod(facts, 'recovery-code');
const hasSecondFactor = ({ payloads }: PageFacts): boolean => payloads['current-user']?.secondFactor === true;
export const hasPasskeys = ({ payloads }: Pick<PageFacts, 'payloads'>): boolean =>
  (payloads['current-user']?.passkeys ?? 0) > 0;
/** Whether the visitor has just added one in the settings. */
export const hasAddedPasskey = ({ state }: Pick<PageFacts, 'state'>): boolean =>
  state?.form === 'passkey' && state.error === undefined;
const hasApps = ({ payloads }: PageFacts): boolean => (payloads.factors?.totp.length ?? 0) > 0;

/** A code is also typed to add an app. */
const ADDING = { offered: isStarted, begins: startedApp } as const;
const LOGGED_OUT = { notice: 'logged-out', tells: 'logged-out' } as const;
const ENDED = { leadsTo: 'account', notice: 'ended' } as const;
const SAVED = { leadsTo: 'account', notice: 'saved' } as const;
const SAVED_FACTOR = { leadsTo: 'factors', notice: 'saved' } as const;
const REMOVED_FACTOR = { leadsTo: 'factors', notice: 'removed' } as const;

/** A form that sends a mail to an address. */
const TO_ADDRESS = { fields: ['email'], leadsTo: 'check-mail', keeps: ['email'] } as const;
const RESET = { submits: 'request-password-reset', notice: 'reset', ...TO_ADDRESS } as const;
const VERIFY = { submits: 'request-email-verification', notice: 'verify', ...TO_ADDRESS } as const;
/** The same once more. @param after the forms that have sent the first one */
const again = (...after: readonly string[]) => ({
  fields: [],
  paced: true as const,
  offered: ({ state }: PageFacts) => state?.typed?.email !== undefined && after.includes(state.form),
  begins: ({ state }: PageFacts) => ({ email: state?.typed?.email ?? '' }),
});

/** The page of a link in a mail. Its form has the token, which the script finds in the address: a scanner that opens the link changes nothing. */
const linkPage = <Name extends LinkPurpose | 'invitation'>(
  name: Name,
  submits: string,
  fields: readonly string[] = ['token'],
  more: Pick<Form<string>, 'preview' | 'eases' | 'needs'> = {},
) => ({
  path: `/auth/link/${name}` as const,
  ofMail: true as const,
  forms: { [name]: { submits, fields, leadsTo: 'done' as const, notice: name, ...more } },
});

/** In place of the password, for users who have none. */
const CONFIRMATION = {
  submits: 'request-confirmation-code',
  fields: [],
  notice: 'confirmation-code',
  offered: ({ passwords }: PageFacts) => passwords === 'optional',
} as const;

const TABLE = {
  'log-in': {
    path: '/auth/log-in',
    for: 'stranger',
    forms: {
      'log-in': {
        submits: 'login',
        fields: ['account', 'password'],
        leadsTo: 'target',
        on: { ...HALF_WAY, AUTH_EMAIL_UNVERIFIED: 'verify' },
        recalled: true,
        ...OFFERS,
      },
      code: { ...BY_CODE, fields: ['account'], buttonOf: 'log-in', offered: hasCodes, recalled: true },
      passkey: { submits: 'passkey-login', fields: ['credential'], leadsTo: 'target', autofill: true, recalled: true },
      provider: { ...AT_PROVIDER, recalled: true, ...OFFERS },
    },
  },
  /** Leads on to a provider or an app, with and without a script. */
  provider: { path: '/auth/provider', leadsOn: 'to-url', forms: {} },
  /** With a code for a session of the app's own. A click asks for it: any website, and any app, can lead here. */
  app: {
    path: '/auth/app',
    for: 'visitor',
    stepUp: true,
    leadsOn: 'to-app',
    shows: ['current-user'],
    // Where the page cannot have the key of the session, the visitor logs in again.
    forms: { app: { ...AT_PROVIDER, submits: 'make-app-code', on: { AUTH_DEVICE_UNPROVEN: 'log-in' } } },
  },
  /** Takes the code of a mail, in the browser that has asked for it. The link in the mail leads here as well, and does nothing by itself. */
  code: {
    path: '/auth/code',
    forms: {
      code: { submits: 'confirm-login-code', fields: ['code'], leadsTo: 'target', on: HALF_WAY, begins: typedAccount },
      again: { ...BY_CODE, fields: ['account'], paced: true, begins: typedAccount },
    },
  },
  register: {
    path: '/auth/register',
    for: 'stranger',
    registers: 'anybody',
    forms: {
      register: {
        submits: 'register',
        fields: ['username', 'email', 'password'],
        leadsTo: 'target',
        accepted: { mail: 'check-mail', login: 'second-factor', code: 'log-in' },
        notice: 'mailed',
        keeps: ['username', 'email'],
        eases: NEW_ACCOUNT,
        offered: ({ mayRegister }) => mayRegister,
        // Who has no password needs a passkey more than peace.
        offers: ({ wasOffered, passwords }) => !wasOffered || passwords === 'optional',
      },
      provider: { ...AT_PROVIDER, offered: ({ mayRegister }) => mayRegister, recalled: true, ...OFFERS },
    },
  },
  /** After a log-in or a registration. */
  'new-passkey': {
    path: '/auth/new-passkey',
    for: 'visitor',
    stepUp: true,
    skips: hasPasskeys,
    shows: ['current-user', 'passkey-options'],
    forms: {
      'new-passkey': {
        submits: 'add-passkey',
        fields: ['credential'],
        leadsTo: 'target',
        tells: 'logged-in',
        shows: CODES,
        silent: true,
      },
    },
  },
  forgot: {
    path: '/auth/forgot',
    ofMail: true,
    forms: { forgot: RESET },
  },
  verify: {
    path: '/auth/verify',
    ofMail: true,
    forms: {
      verify: {
        ...VERIFY,
        // The name with which somebody has logged in whose address is not verified.
        begins: ({ state }): Readonly<Record<string, string>> =>
          state?.typed?.account?.includes('@') ? { email: state.typed.account } : {},
      },
    },
  },
  'check-mail': {
    path: '/auth/check-mail',
    ofMail: true,
    corrects: 'register',
    forms: {
      forgot: { ...RESET, ...again('forgot') },
      verify: { ...VERIFY, ...again('verify', 'register') },
    },
  },
  'password-reset': linkPage('password-reset', 'confirm-password-reset', ['token', 'newPassword'], {
    preview: '/auth/password-reset/preview',
  }),
  /** Its form has the address of the invitation, too, which the script finds beside the token. */
  invitation: {
    ...linkPage('invitation', 'register', ['username', 'email', 'password', 'invitation'], INVITED),
    registers: 'invited',
  },
  'email-verification': linkPage('email-verification', 'confirm-email'),
  'not-me': linkPage('not-me', 'remove-unverified-account'),
  'email-change': linkPage('email-change', 'confirm-email-change', ['token', 'password'], {
    preview: '/auth/email-change/preview',
    eases: {
      // Unless the link is of another account.
      password: ({ isVisitor, state }) => {
        const { code, fields = [] } = state?.error ?? {};
        const isMissed = code === 'AUTH_CREDENTIALS_INVALID' || fields.some(({ field }) => field === 'password');
        return isVisitor && !isMissed ? 'left-out' : 'required';
      },
    },
  }),
  'email-change-undo': linkPage('email-change-undo', 'undo-email-change'),
  'factors-undo': linkPage('factors-undo', 'undo-factors'),
  /** What a link in a mail has done. */
  done: { path: '/auth/link/done', ofMail: true, forms: {} },
  'second-factor': {
    path: '/auth/second-factor',
    shows: ['pending-login'],
    forms: {
      'second-factor': { ...SECOND, fields: ['code', 'remember'], shows: CODES, ...ADDING, offered: mayTypeCode },
      'mail-code': { ...SECOND, fields: ['mailCode'], offered: waitsForMail },
      recovery: {
        ...SECOND,
        fields: ['recoveryCode', 'remember'],
        behind: 'another-way',
        offered: mayRecover,
        // The page asks once.
        eases: { remember: (facts) => (mayTypeCode(facts) ? 'left-out' : 'optional') },
      },
      passkey: { ...SECOND, fields: ['credential'], offered: (facts) => hasMethod(facts, 'passkey') },
      'start-app': {
        submits: 'start-pending-totp',
        fields: [],
        leadsTo: 'second-factor',
        shows: { member: 'secret', on: 'second-factor' },
        offered: (facts) => facts.payloads['pending-login']?.enrol === true && !isStarted(facts),
      },
    },
  },
  'recovery-codes': { path: '/auth/recovery-codes', for: 'visitor', shows: ['current-user'], forms: {} },
  'step-up': {
    path: '/auth/step-up',
    for: 'visitor',
    shows: ['current-user', 'identities'],
    forms: {
      'step-up': { ...STEP_UP, fields: ['password'] },
      code: { ...STEP_UP, fields: ['code'], offered: hasSecondFactor },
      passkey: { ...STEP_UP, fields: ['credential'], offered: hasPasskeys },
      /** Users without a password log in again. */
      provider: { ...AT_PROVIDER, linkedOnly: true },
      'mail-code': { ...BY_CODE, fields: [], offered: hasCodes, begins: ownText('username', 'account') },
    },
  },
  /** For sessions whose device has a key: only a script can prove it. */
  prove: {
    path: '/auth/prove',
    leadsOn: 'when-proven',
    forms: {
      prove: {
        submits: 'refresh',
        fields: [],
        leadsTo: 'target',
        on: { AUTH_DEVICE_UNPROVEN: 'log-in', AUTH_FAILED: 'log-in' },
      },
    },
  },
  account: {
    path: '/auth/account',
    for: 'visitor',
    shows: ['current-user', 'sessions', 'passkey-options'],
    forms: {
      username: {
        submits: 'change-username',
        fields: ['username'],
        behind: 'change',
        ...SAVED,
        begins: ownText('username'),
        renames: true,
      },
      email: {
        submits: 'change-email',
        fields: ['email', 'password', 'code'],
        behind: 'change',
        eases: CONFIRMED,
        leadsTo: 'account',
        notice: 'email',
        begins: ownText('email'),
      },
      'confirmation-code': { ...CONFIRMATION, leadsTo: 'account', buttonOf: 'email', keeps: ['email'] },
      password: {
        submits: 'change-password',
        fields: ['currentPassword', 'newPassword'],
        behind: 'change',
        ...SAVED,
        notice: 'password',
      },
      language: {
        submits: 'change-current-user',
        fields: ['locale'],
        behind: 'change',
        ...SAVED,
        begins: ownText('locale'),
      },
      session: { submits: 'end-session', fields: [], ...ENDED },
      sessions: { submits: 'end-sessions', fields: [], ...ENDED, begins: () => ({ except: 'current' }) },
    },
  },
  factors: {
    path: '/auth/account/factors',
    for: 'visitor',
    stepUp: true,
    shows: ['current-user', 'factors', 'passkey-options', 'identities'],
    forms: {
      /** Its name is that of the device, and is asked for afterwards. */
      passkey: { submits: 'add-passkey', fields: ['credential'], ...SAVED_FACTOR, notice: 'passkey', shows: CODES },
      'rename-passkey': { submits: 'rename-passkey', fields: ['name'], behind: 'rename', ...SAVED_FACTOR },
      'remove-passkey': {
        submits: 'remove-passkey',
        fields: [],
        ...REMOVED_FACTOR,
        shows: { member: 'allAcceptedCredentialIds', on: 'factors' },
      },
      'start-app': {
        submits: 'start-totp',
        fields: [],
        leadsTo: 'factors',
        shows: { member: 'secret', on: 'factors' },
        offered: (facts) => !isStarted(facts) && !hasApps(facts),
      },
      app: { submits: 'confirm-totp', fields: ['code'], ...SAVED_FACTOR, shows: CODES, ...ADDING },
      'remove-app': { submits: 'remove-factor', fields: [], ...REMOVED_FACTOR },
      'recovery-codes': {
        submits: 'make-recovery-codes',
        fields: [],
        leadsTo: 'factors',
        shows: CODES,
        offered: (facts) => hasApps(facts) || (facts.payloads.factors?.recoveryCodes ?? 0) > 0,
      },
      link: { ...AT_PROVIDER, submits: 'start-link-at-provider', returns: true },
      unlink: { submits: 'unlink-identity', fields: [], ...REMOVED_FACTOR },
    },
  },
  history: { path: '/auth/account/history', for: 'visitor', shows: ['current-user', 'events'], forms: {} },
  delete: {
    path: '/auth/account/delete',
    for: 'visitor',
    shows: ['current-user'],
    forms: {
      delete: {
        submits: 'delete-account',
        fields: ['password', 'code'],
        eases: CONFIRMED,
        leadsTo: 'log-in',
        notice: 'deleted',
      },
      'confirmation-code': { ...CONFIRMATION, leadsTo: 'delete', buttonOf: 'delete' },
    },
  },
  'log-out': {
    path: '/auth/log-out',
    forms: {
      'log-out': { submits: 'clear-cookie', fields: [], leadsTo: 'target', otherwise: 'log-in', ...LOGGED_OUT },
    },
  },
} as const satisfies Readonly<Record<string, Page<string>>>;

export type PageName = keyof typeof TABLE;

export const PAGES: Readonly<Record<PageName, Page>> = TABLE;

/** Routes of the API whose user presents something. They verify a proof of the device's key, too. */
const AUTHENTICATING = ['login', 'passkey-login', 'register', 'second-factor', 'step-up', 'confirm-login-code'];
/** Those that verify one. The script adds it to their forms. */
const PROVING = [...AUTHENTICATING, 'refresh', 'make-app-code'];

export const takesProof = ({ submits }: Pick<Form, 'submits'>): boolean => PROVING.includes(submits);

/** Whether its visitor presents something: who has the cookie alone gets no code that binds the session. */
export const authenticates = (form: Pick<Form, 'submits'>): boolean => AUTHENTICATING.includes(form.submits);

/** How the browser remembers a form that was used. */
export const usedAs = (form: string, provider = ''): string => (provider === '' ? form : `${form}.${provider}`);

/** The path to which a form is posted. */
export const pathOf = (page: PageName, form: string): `/${string}` =>
  form === page ? PAGES[page].path : `${PAGES[page].path}/${form}`;

import type { ErrorCode } from '../../../domain/errors/catalog.ts';
import type { LinkPurpose } from '../../../domain/link.ts';

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
  /** What was typed into these fields is handed on to the page to which it leads. */
  readonly keeps?: readonly string[];
  /** The form of the page whose fields it sends: it is another button of that one. */
  readonly within?: string;
  /** The route that tells what the form's link would do, by its path. The script asks it, and shows the answer before a click. */
  readonly preview?: `/auth/${string}`;
};

export type Page<Name extends string = PageName> = {
  readonly path: `/auth/${string}`;
  /** `visitor`: for those who are logged in; the others are asked to log in first. */
  readonly for: 'anybody' | 'visitor';
  /** Whether the visitor has to have presented a factor a moment ago. Asked for before the forms. */
  readonly stepUp?: true;
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

/** A form that sends a mail to an address. */
const TO_ADDRESS = { fields: ['email'], leadsTo: 'check-mail', keeps: ['email'] } as const;

/** The page of a link in a mail. Its form has the token, which the script finds in the address: a scanner that opens the link changes nothing. */
const linkPage = <Name extends LinkPurpose>(
  name: Name,
  submits: string,
  fields: readonly string[] = [],
  more: { readonly preview?: `/auth/${string}` } = {},
) => ({
  path: `/auth/link/${name}` as const,
  for: 'anybody' as const,
  ofMail: true as const,
  forms: { [name]: { submits, fields: ['token', ...fields], leadsTo: 'done' as const, notice: name, ...more } },
});

/** In place of the password, for users who have none. */
const confirmationCode = <Name extends string>(leadsTo: Name) =>
  ({ submits: 'request-confirmation-code', fields: [], leadsTo, notice: 'confirmation-code' }) as const;

export const PAGES = {
  'log-in': {
    path: '/auth/log-in',
    for: 'anybody',
    forms: {
      'log-in': {
        submits: 'login',
        fields: ['account', 'password'],
        leadsTo: 'target',
        on: { AUTH_SECOND_FACTOR_REQUIRED: 'second-factor', AUTH_EMAIL_UNVERIFIED: 'verify' },
      },
      code: {
        submits: 'request-login-code',
        fields: ['account'],
        leadsTo: 'code',
        notice: 'code',
        keeps: ['account'],
        within: 'log-in',
      },
      passkey: { submits: 'passkey-login', fields: ['credential'], leadsTo: 'target' },
      provider: AT_PROVIDER,
    },
  },
  /** Leads on to a provider or an app, with and without a script. */
  provider: { path: '/auth/provider', for: 'anybody', forms: {} },
  /** Leads on to an app, with a code for a session of its own. A click asks for it: any website, and any app, can lead here. */
  app: {
    path: '/auth/app',
    for: 'visitor',
    stepUp: true,
    shows: ['current-user'],
    // Where the page cannot have the key of the session, the visitor logs in again.
    forms: { app: { ...AT_PROVIDER, submits: 'make-app-code', on: { AUTH_DEVICE_UNPROVEN: 'log-in' } } },
  },
  /** Takes the code of a mail, in the browser that has asked for it. The link in the mail leads here as well, and does nothing by itself. */
  code: {
    path: '/auth/code',
    for: 'anybody',
    forms: {
      code: {
        submits: 'confirm-login-code',
        fields: ['code'],
        leadsTo: 'target',
        on: { AUTH_SECOND_FACTOR_REQUIRED: 'second-factor' },
      },
      again: {
        submits: 'request-login-code',
        fields: ['account'],
        leadsTo: 'code',
        notice: 'code',
        keeps: ['account'],
      },
    },
  },
  register: {
    path: '/auth/register',
    for: 'anybody',
    forms: {
      register: {
        submits: 'register',
        fields: ['username', 'email', 'password'],
        leadsTo: 'target',
        accepted: { mail: 'check-mail', login: 'second-factor', code: 'log-in' },
        notice: 'mailed',
        keeps: ['username', 'email'],
      },
      provider: AT_PROVIDER,
    },
  },
  forgot: {
    path: '/auth/forgot',
    for: 'anybody',
    ofMail: true,
    forms: {
      forgot: { submits: 'request-password-reset', notice: 'reset', ...TO_ADDRESS },
    },
  },
  verify: {
    path: '/auth/verify',
    for: 'anybody',
    ofMail: true,
    forms: {
      verify: { submits: 'request-email-verification', notice: 'verify', ...TO_ADDRESS },
    },
  },
  'check-mail': { path: '/auth/check-mail', for: 'anybody', ofMail: true, forms: {} },
  'password-reset': linkPage('password-reset', 'confirm-password-reset', ['newPassword'], {
    preview: '/auth/password-reset/preview',
  }),
  /** Its form has the address of the invitation, too, which the script finds beside the token. */
  invitation: {
    path: '/auth/link/invitation',
    for: 'anybody',
    ofMail: true,
    forms: {
      invitation: {
        submits: 'register',
        fields: ['username', 'email', 'password', 'invitation'],
        needs: 'invitation',
        leadsTo: 'done',
        notice: 'invitation',
      },
    },
  },
  'email-verification': linkPage('email-verification', 'confirm-email'),
  'not-me': linkPage('not-me', 'remove-unverified-account'),
  'email-change': linkPage('email-change', 'confirm-email-change', ['password'], {
    preview: '/auth/email-change/preview',
  }),
  'email-change-undo': linkPage('email-change-undo', 'undo-email-change'),
  'factors-undo': linkPage('factors-undo', 'undo-factors'),
  /** What a link in a mail has done. */
  done: { path: '/auth/link/done', for: 'anybody', ofMail: true, forms: {} },
  'second-factor': {
    path: '/auth/second-factor',
    for: 'anybody',
    shows: ['pending-login'],
    forms: {
      'second-factor': { submits: 'second-factor', fields: ['code', 'remember'], leadsTo: 'target', shows: CODES },
      recovery: { submits: 'second-factor', fields: ['recoveryCode', 'remember'], leadsTo: 'target' },
      passkey: { submits: 'second-factor', fields: ['credential'], leadsTo: 'target' },
      'start-app': {
        submits: 'start-pending-totp',
        fields: [],
        leadsTo: 'second-factor',
        shows: { member: 'secret', on: 'second-factor' },
      },
    },
  },
  'recovery-codes': { path: '/auth/recovery-codes', for: 'visitor', shows: ['current-user'], forms: {} },
  'step-up': {
    path: '/auth/step-up',
    for: 'visitor',
    shows: ['current-user', 'identities'],
    forms: {
      'step-up': { submits: 'step-up', fields: ['password'], leadsTo: 'target' },
      code: { submits: 'step-up', fields: ['code'], leadsTo: 'target' },
      passkey: { submits: 'step-up', fields: ['credential'], leadsTo: 'target' },
      /** Users without a password log in again. */
      provider: AT_PROVIDER,
      'mail-code': { submits: 'request-login-code', fields: [], leadsTo: 'code', notice: 'code', keeps: ['account'] },
    },
  },
  /** For sessions whose device has a key: only a script can prove it. */
  prove: {
    path: '/auth/prove',
    for: 'anybody',
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
    shows: ['current-user', 'sessions'],
    forms: {
      username: { submits: 'change-username', fields: ['username'], leadsTo: 'account', notice: 'saved' },
      email: { submits: 'change-email', fields: ['email', 'password', 'code'], leadsTo: 'account', notice: 'email' },
      'confirmation-code': confirmationCode('account'),
      password: {
        submits: 'change-password',
        fields: ['currentPassword', 'newPassword'],
        leadsTo: 'account',
        notice: 'password',
      },
      language: { submits: 'change-current-user', fields: ['locale'], leadsTo: 'account', notice: 'saved' },
      session: { submits: 'end-session', fields: [], leadsTo: 'account', notice: 'ended' },
      sessions: { submits: 'end-sessions', fields: [], leadsTo: 'account', notice: 'ended' },
    },
  },
  factors: {
    path: '/auth/account/factors',
    for: 'visitor',
    stepUp: true,
    shows: ['current-user', 'factors', 'passkey-options', 'identities'],
    forms: {
      passkey: { submits: 'add-passkey', fields: ['name', 'credential'], leadsTo: 'factors', notice: 'saved' },
      'rename-passkey': { submits: 'rename-passkey', fields: ['name'], leadsTo: 'factors', notice: 'saved' },
      'remove-passkey': {
        submits: 'remove-passkey',
        fields: [],
        leadsTo: 'factors',
        notice: 'removed',
        shows: { member: 'allAcceptedCredentialIds', on: 'factors' },
      },
      'start-app': {
        submits: 'start-totp',
        fields: [],
        leadsTo: 'factors',
        shows: { member: 'secret', on: 'factors' },
      },
      app: { submits: 'confirm-totp', fields: ['code'], leadsTo: 'factors', notice: 'saved', shows: CODES },
      'remove-app': { submits: 'remove-factor', fields: [], leadsTo: 'factors', notice: 'removed' },
      'recovery-codes': { submits: 'make-recovery-codes', fields: [], leadsTo: 'factors', shows: CODES },
      link: { ...AT_PROVIDER, submits: 'start-link-at-provider' },
      unlink: { submits: 'unlink-identity', fields: [], leadsTo: 'factors', notice: 'removed' },
    },
  },
  history: { path: '/auth/account/history', for: 'visitor', shows: ['current-user', 'events'], forms: {} },
  delete: {
    path: '/auth/account/delete',
    for: 'visitor',
    shows: ['current-user'],
    forms: {
      delete: { submits: 'delete-account', fields: ['password', 'code'], leadsTo: 'log-in', notice: 'deleted' },
      'confirmation-code': confirmationCode('delete'),
    },
  },
  'log-out': {
    path: '/auth/log-out',
    for: 'anybody',
    forms: {
      'log-out': {
        submits: 'clear-cookie',
        fields: [],
        leadsTo: 'target',
        otherwise: 'log-in',
        notice: 'logged-out',
      },
    },
  },
} as const satisfies Readonly<Record<string, Page<string>>>;

export type PageName = keyof typeof PAGES;

/** Routes of the API whose user presents something. They verify a proof of the device's key, too. */
const AUTHENTICATING = ['login', 'passkey-login', 'register', 'second-factor', 'step-up', 'confirm-login-code'];
/** Those that verify one. The script adds it to their forms. */
const PROVING = [...AUTHENTICATING, 'refresh', 'make-app-code'];

export const takesProof = ({ submits }: Pick<Form, 'submits'>): boolean => PROVING.includes(submits);

/** Whether its visitor presents something: who has the cookie alone gets no code that binds the session. */
export const authenticates = (form: Pick<Form, 'submits'>): boolean => AUTHENTICATING.includes(form.submits);

/** The path to which a form is posted. */
export const pathOf = (page: PageName, form: string): `/${string}` =>
  form === page ? PAGES[page].path : `${PAGES[page].path}/${form}`;

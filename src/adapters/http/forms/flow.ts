import type { ErrorCode } from '../../../domain/errors/catalog.ts';

/**
 * The pages for users, and where each result of their forms leads. A form submits to a route of the API: it has its schema, limits, guard,
 * use case and errors, and knows no other rule. ADR 0024.
 */

/** Where a result leads: a page, or what the visitor came for. */
export type Step = PageName | 'target';

export type Form = {
  /** The name of the route that the form submits to. */
  readonly submits: string;
  /** Where a success leads. */
  readonly then: Step;
  /** Where a success leads whose payload has this member, which the page shows once. */
  readonly shows?: { readonly member: string; readonly on: PageName };
  /** Errors that lead to another page. All others lead back to the form. */
  readonly on?: Readonly<Partial<Record<ErrorCode, PageName>>>;
  /** The notice that the page of `then` shows. */
  readonly notice?: string;
};

export type Page = {
  readonly path: `/auth/${string}`;
  /** `visitor`: for those who are logged in; the others are asked to log in first. */
  readonly for: 'anybody' | 'visitor';
  /** Whether the visitor has to have shown a factor a moment ago. Asked for before the forms. */
  readonly stepUp?: true;
  /** The names of routes whose payloads the page shows. */
  readonly shows?: readonly string[];
  /** By name. The one that is called as its page has the path of the page, the others one below it. */
  readonly forms: Readonly<Record<string, Form>>;
};

const FACTOR_ADDED = { shows: { member: 'recoveryCodes', on: 'recovery-codes' } } as const;

export const PAGES = {
  'log-in': {
    path: '/auth/log-in',
    for: 'anybody',
    forms: {
      'log-in': { submits: 'login', then: 'target', on: { AUTH_SECOND_FACTOR_REQUIRED: 'second-factor' } },
      passkey: { submits: 'passkey-login', then: 'target', on: { AUTH_SECOND_FACTOR_REQUIRED: 'second-factor' } },
    },
  },
  register: {
    path: '/auth/register',
    for: 'anybody',
    forms: { register: { submits: 'register', then: 'target' } },
  },
  forgot: {
    path: '/auth/forgot',
    for: 'anybody',
    forms: { forgot: { submits: 'request-password-reset', then: 'check-mail', notice: 'reset' } },
  },
  verify: {
    path: '/auth/verify',
    for: 'anybody',
    forms: { verify: { submits: 'request-email-verification', then: 'check-mail', notice: 'verification' } },
  },
  'check-mail': { path: '/auth/check-mail', for: 'anybody', forms: {} },
  'second-factor': {
    path: '/auth/second-factor',
    for: 'anybody',
    shows: ['pending-login'],
    forms: {
      'second-factor': { submits: 'second-factor', then: 'target', ...FACTOR_ADDED },
      app: { submits: 'start-pending-totp', then: 'second-factor' },
    },
  },
  'recovery-codes': { path: '/auth/recovery-codes', for: 'visitor', forms: {} },
  'step-up': {
    path: '/auth/step-up',
    for: 'visitor',
    shows: ['step-up-options'],
    forms: { 'step-up': { submits: 'step-up', then: 'target' } },
  },
  prove: { path: '/auth/prove', for: 'anybody', forms: { prove: { submits: 'refresh', then: 'target' } } },
  account: {
    path: '/auth/account',
    for: 'visitor',
    shows: ['me', 'sessions'],
    forms: {
      name: { submits: 'change-username', then: 'account', notice: 'saved' },
      email: { submits: 'request-email-change', then: 'account', notice: 'email' },
      password: { submits: 'change-password', then: 'account', notice: 'password' },
      language: { submits: 'change-locale', then: 'account', notice: 'saved' },
      session: { submits: 'end-session', then: 'account', notice: 'ended' },
      sessions: { submits: 'end-sessions', then: 'account', notice: 'ended' },
    },
  },
  factors: {
    path: '/auth/account/factors',
    for: 'visitor',
    stepUp: true,
    shows: ['factors'],
    forms: {
      'start-app': { submits: 'start-totp', then: 'factors', shows: { member: 'secret', on: 'factors' } },
      app: { submits: 'confirm-totp', then: 'factors', ...FACTOR_ADDED },
      'remove-app': { submits: 'remove-factor', then: 'factors' },
      passkey: { submits: 'add-passkey', then: 'factors' },
      'rename-passkey': { submits: 'rename-passkey', then: 'factors' },
      'remove-passkey': { submits: 'remove-passkey', then: 'factors' },
      'recovery-codes': { submits: 'make-recovery-codes', then: 'recovery-codes', ...FACTOR_ADDED },
    },
  },
  history: { path: '/auth/account/history', for: 'visitor', shows: ['events'], forms: {} },
  delete: {
    path: '/auth/account/delete',
    for: 'visitor',
    forms: { delete: { submits: 'delete-account', then: 'log-in', notice: 'deleted' } },
  },
  'log-out': {
    path: '/auth/log-out',
    for: 'anybody',
    forms: { 'log-out': { submits: 'clear-cookie', then: 'target' } },
  },
} as const satisfies Readonly<Record<string, Omit<Page, 'forms'> & { readonly forms: Readonly<Record<string, FormLike>> }>>;

/** A form as the table writes it: its pages are checked by the tests, since their names are those of the table itself. */
type FormLike = Omit<Form, 'then' | 'shows' | 'on'> & {
  readonly then: string;
  readonly shows?: { readonly member: string; readonly on: string };
  readonly on?: Readonly<Partial<Record<ErrorCode, string>>>;
};

export type PageName = keyof typeof PAGES;

/** The path to which a form is posted. */
export const pathOf = (page: PageName, form: string): `/${string}` =>
  form === page ? PAGES[page].path : `${PAGES[page].path}/${form}`;

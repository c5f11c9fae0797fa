import { LINKS } from '../flow/links.ts';
import { LOGIN } from '../flow/login.ts';
import type { FormRow, PageRow } from '../flow/rows.ts';
import { SETTINGS } from '../flow/settings.ts';

/**
 * The pages for users, and where the results of their forms lead. A form submits to a route of the API, and has the schema, limits, guard,
 * handler and errors of that route. ADR 0024.
 */
const TABLE = { ...LOGIN, ...LINKS, ...SETTINGS } as const;

export type PageName = keyof typeof TABLE;
export type Page = PageRow<PageName>;
export type Form = FormRow<PageName>;

/** Where a result leads: to a page, or to the target, which is what the visitor came for. */
export type Step = PageName | 'target';

export const PAGES: Readonly<Record<PageName, Page>> = TABLE;

/** Routes of the API that authenticate the user. */
const AUTHENTICATING = ['login', 'passkey-login', 'register', 'second-factor', 'step-up', 'confirm-login-code'];
/** Routes that take a proof of the device's key, which the script adds to their forms. */
const PROVING = [...AUTHENTICATING, 'refresh', 'make-app-code'];

export const takesProof = ({ submits }: Pick<Form, 'submits'>): boolean => PROVING.includes(submits);

/** Whether the form authenticates its visitor. Only then does the application get a code that binds the session. */
export const authenticates = (form: Pick<Form, 'submits'>): boolean => AUTHENTICATING.includes(form.submits);

/** The value of the cookie that remembers the form of the last log-in. */
export const usedAs = (form: string, provider = ''): string => (provider === '' ? form : `${form}.${provider}`);

/** The path to which a form is posted. */
export const pathOf = (page: PageName, form: string): `/${string}` =>
  form === page ? PAGES[page].path : `${PAGES[page].path}/${form}`;

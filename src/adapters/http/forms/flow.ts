import { LINK_PAGES } from '../flow/links.ts';
import { LOGIN_PAGES } from '../flow/login.ts';
import type { FormRow, PageRow } from '../flow/rows.ts';
import { SETTINGS_PAGES } from '../flow/settings.ts';

/** The pages for users. A form submits to a route, such as one of the API, and takes over its schemas, limits, handler and errors (ADR 0024). */
const TABLE = { ...LOGIN_PAGES, ...LINK_PAGES, ...SETTINGS_PAGES } as const;

export type PageName = keyof typeof TABLE;
export type Page = PageRow<PageName>;
export type Form = FormRow<PageName>;

/** Where the result of a form leads: to a page, or to the target. */
export type Step = PageName | 'target';

export const PAGES: Readonly<Record<PageName, Page>> = TABLE;

const AUTHENTICATING_ROUTES = ['login', 'passkey-login', 'register', 'second-factor', 'step-up', 'confirm-login-code'];
/** The routes of forms that take a proof of the device's key. The script of the pages adds the proof. */
const PROVING_ROUTES = [...AUTHENTICATING_ROUTES, 'refresh', 'make-app-code'];

export const takesProof = ({ submits }: Pick<Form, 'submits'>): boolean => PROVING_ROUTES.includes(submits);

/** Whether a form authenticates its visitor. Of the forms, only these give the application a code by which it binds the session to its own key. */
export const authenticates = (form: Pick<Form, 'submits'>): boolean => AUTHENTICATING_ROUTES.includes(form.submits);

/** The value of the cookie `used_last`: the form by which a log-in was last begun in this browser, and its provider, if any. */
export const lastUse = (form: string, provider = ''): string => (provider === '' ? form : `${form}.${provider}`);

export const formPath = (page: PageName, form: string): `/${string}` =>
  form === page ? PAGES[page].path : `${PAGES[page].path}/${form}`;

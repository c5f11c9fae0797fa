import { LINKS } from '../flow/links.ts';
import type { FormRow, PageRow } from '../flow/rows.ts';
import { SETTINGS } from '../flow/settings.ts';
import { WAYS_IN } from '../flow/ways-in.ts';

/**
 * The pages for users, and where each result of their forms leads. A form submits to a route of the API: it has its schema, limits, guard,
 * use case and errors, and knows no other rule. ADR 0024.
 */

const TABLE = { ...WAYS_IN, ...LINKS, ...SETTINGS } as const;

export type PageName = keyof typeof TABLE;
export type Page = PageRow<PageName>;
export type Form = FormRow<PageName>;

/** Where a result leads: a page, or what the visitor came for. */
export type Step = PageName | 'target';

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

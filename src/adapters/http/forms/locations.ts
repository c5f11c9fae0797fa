import * as v from 'valibot';
import type { ErrorCode } from '../../../domain/errors/catalog.ts';
import { textRule } from '../../json/fields.ts';
import { PAGES, type PageName, type Step } from './flow.ts';
import { challengeIn, TARGET_METADATA, type TargetSettings, targetProblem } from './targets.ts';

/** A query parameter that tells a page, or an application, what has happened. The client and the script remove it. */
export const MARK = 'tandem';
export const MARKS = {
  loggedIn: 'logged-in',
  loggedOut: 'logged-out',
  /** After a log-in, the browser has not sent the cookie. */
  noCookie: 'no-cookie',
  /** A form has failed. The page says so even without the cookie that has the reason. */
  failed: 'failed',
} as const;
type Mark = (typeof MARKS)[keyof typeof MARKS];

/** An application asks for a binding code by an empty `tandem_code` in its address, which may be a parameter of a page on the way. */
const CODE_PLACE = new RegExp(
  `(?<=(?:[?&]|%3F|%26)tandem_code(?:=|%3D))(?=(?:%23[^&]*)?&${MARK}=${MARKS.loggedIn}(?:#|$))`,
);

/** @param at the URL of an application, a link to an app, or the path of a page of the service. */
export const withParameter = (at: string, name: string, value: string): string => {
  const added = (search: string) => `${search}${search === '' ? '?' : '&'}${name}=${value}`;
  if (at.startsWith('/')) return `${at}${at.includes('?') ? '&' : '?'}${name}=${value}`;
  const url = new URL(at);
  // `searchParams` would encode the other parameters anew.
  url.search = added(url.search);
  return url.href;
};

/** The addresses of the pages, and of the targets that they lead to. */
export const locations = (settings: TargetSettings) => {
  const base = new URL(settings.baseUrl).pathname.replace(/\/$/, '');
  /** The page of the service at a path. */
  const pageAt = (to: string): PageName | undefined =>
    // `Object.keys` is typed to return any strings.
    (Object.keys(PAGES) as PageName[]).find((name) => to === base + PAGES[name].path);
  /** Whether it is a page of the service, with an application or an app as its target. */
  const isPageWithTarget = (to: string): boolean => {
    const [path = '', query = ''] = to.split('?');
    const [[name, next] = [], ...others] = new URLSearchParams(query);
    return pageAt(path) !== undefined && name === 'to' && others.length === 0 && (isOfWeb(next) || isOfApp(next));
  };
  const isOfWeb = (to: unknown): to is string => typeof to === 'string' && targetProblem(to, settings) === null;
  const isOfApp = (to: unknown): to is string => typeof to === 'string' && challengeIn(to, settings) !== null;
  /** The schema of where the visitor wants to go: a page of an application or of the service, or an app. */
  const target = v.optional(
    v.pipe(
      v.string(),
      textRule((text) =>
        pageAt(text) === undefined && !isPageWithTarget(text) && !isOfApp(text) ? targetProblem(text, settings) : null,
      ),
      v.metadata({ jsonSchema: TARGET_METADATA }),
      v.examples(['https://app.example.org/notes']),
    ),
  );
  /** The schema of an address of a page of the service, with any query. */
  const ownLocation = v.pipe(
    v.string(),
    textRule((text) =>
      pageAt(text.replace(/\?.*/s, '')) === undefined
        ? { code: 'invalid_value', message: 'must be a page of the service' }
        : null,
    ),
  );
  const pathOf = (page: PageName): string => base + PAGES[page].path;
  const hrefOf = (page: PageName, to: string | undefined, mark?: Mark, next?: string): string => {
    const given = Object.entries({ to, next, [MARK]: mark }).filter(([, text]) => text !== undefined);
    const query = new URLSearchParams(given as [string, string][]);
    return `${pathOf(page)}${query.size === 0 ? '' : `?${query}`}`;
  };
  /** @param to the target. Default: the account. @param bindingCode of the session that was opened */
  const locationOf = (step: Step, to: string | undefined, mark?: Mark, bindingCode = ''): string => {
    if (step !== 'target') return hrefOf(step, to);
    if (isOfApp(to)) return hrefOf('app', to, mark);
    const at = to ?? pathOf('account');
    if (mark !== undefined) return withParameter(at, MARK, mark).replace(CODE_PLACE, bindingCode);
    // A header has to be ASCII.
    return at.startsWith('/') ? at : new URL(at).href;
  };
  /** The target, if it is allowed. Errors come before the query is validated, and lead to it as well. */
  const allowed = (to: unknown): string | undefined => (v.is(target, to) ? to : undefined);
  /** The target that leads back to a page which a visitor cannot have yet: the page with its own target, or the app that it goes on to. */
  const targetBackTo = (page: PageName, to: unknown): string =>
    (PAGES[page].forwards === 'to-app' && allowed(to)) || hrefOf(page, isOfWeb(to) || isOfApp(to) ? to : undefined);
  /** Leads by the page `lacking` back to `page`. @param to the target; an application may have the key to prove */
  const lackingAt = (lacking: NonNullable<ReturnType<typeof pageLacking>>, page: PageName, to: unknown): string =>
    hrefOf(lacking, targetBackTo(page, to), undefined, PAGES[lacking].forwards && isOfWeb(to) ? to : undefined);
  return { target, isOfApp, ownLocation, pageAt, pathOf, hrefOf, lackingAt, locationOf, allowed, targetBackTo };
};

export type Locations = ReturnType<typeof locations>;

/** Errors of every page and form, since each identifies its visitor. */
export const VISITOR_ERRORS = ['AUTH_FAILED', 'AUTH_DEVICE_UNPROVEN', 'DB_QUERY_FAILED'] as const;

const LACKING: Readonly<Partial<Record<ErrorCode, 'step-up' | 'prove' | 'log-in'>>> = {
  AUTH_STEP_UP_REQUIRED: 'step-up',
  AUTH_DEVICE_UNPROVEN: 'prove',
  AUTH_FAILED: 'log-in',
  AUTH_TOKEN_MISSING: 'log-in',
  AUTH_TOKEN_INVALID: 'log-in',
  DB_RECORD_NOT_FOUND: 'log-in',
};

/** The page on which visitors get what they lack. (A form may also say DB_RECORD_NOT_FOUND of an item that is gone.) */
export const pageLacking = (code: ErrorCode): 'step-up' | 'prove' | 'log-in' | null => LACKING[code] ?? null;

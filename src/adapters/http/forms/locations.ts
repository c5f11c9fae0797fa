import * as v from 'valibot';
import type { ErrorCode } from '../../../domain/errors/catalog.ts';
import { textRule } from '../../json/fields.ts';
import { PAGES, type PageName, type Step } from './flow.ts';
import { challengeIn, TARGET_METADATA, type TargetSettings, targetProblem } from './targets.ts';

/** A query parameter: what has happened, or the path of the page for which the application has to prove its key. The client and the page script remove it. */
export const MARK = 'tandem';
export const MARKS = {
  loggedIn: 'logged-in',
  loggedOut: 'logged-out',
  /** After a log-in or a proof of the key, the visitor is still not identified, probably because the browser refuses cookies. */
  noCookie: 'no-cookie',
  /** Something has failed, such as a form. Without the cookie that has the error, the page still tells that. */
  failed: 'failed',
} as const;
type Mark = (typeof MARKS)[keyof typeof MARKS];

/** The place after an empty `tandem_code` at the end of a target, which asks for a binding code. The target may be an encoded parameter of another URL. */
const BINDING_CODE_PLACE = new RegExp(
  `(?<=(?:[?&]|%3F|%26)tandem_code(?:=|%3D))(?=(?:%23[^&]*)?&${MARK}=${MARKS.loggedIn}(?:#|$))`,
);

/** Adds a query parameter. @param target a URL, or the path of a page of the service @param value encoded */
export const withParameter = (target: string, name: string, value: string): string => {
  if (target.startsWith('/')) return `${target}${target.includes('?') ? '&' : '?'}${name}=${value}`;
  const url = new URL(target);
  // Not by `searchParams`, which would encode the other parameters in another way.
  url.search += `${url.search === '' ? '?' : '&'}${name}=${value}`;
  return url.href;
};

/** The paths of the pages, and the URLs to which they lead. */
export const locations = (settings: TargetSettings) => {
  const basePath = new URL(settings.baseUrl).pathname.replace(/\/$/, '');
  /** The page for users that has this path, below the path of BASE_URL. */
  const pageAt = (to: string): PageName | undefined =>
    (Object.keys(PAGES) as PageName[]).find((name) => to === basePath + PAGES[name].path);
  /** Whether `to` is a page of the service whose only parameter is a target of its own, which is no page. */
  const isPageWithTarget = (to: string): boolean => {
    const [path = '', query = ''] = to.split('?');
    const [[name, next] = [], ...others] = new URLSearchParams(query);
    return pageAt(path) !== undefined && name === 'to' && others.length === 0 && (isWebUrl(next) || isAppLink(next));
  };
  const isWebUrl = (to: unknown): to is string => typeof to === 'string' && targetProblem(to, settings) === null;
  const isAppLink = (to: unknown): to is string => typeof to === 'string' && challengeIn(to, settings) !== null;
  /** The schema of a target: the URL of an application, a link to an app or the back office, or a page of the service with or without its own target. */
  const target = v.optional(
    v.pipe(
      v.string(),
      textRule((text) =>
        pageAt(text) === undefined && !isPageWithTarget(text) && !isAppLink(text)
          ? targetProblem(text, settings)
          : null,
      ),
      v.metadata({ jsonSchema: TARGET_METADATA }),
      v.examples(['https://app.example.org/notes']),
    ),
  );
  /** The schema of the path of a page of the service, with any query. */
  const ownLocation = v.pipe(
    v.string(),
    textRule((text) =>
      pageAt(text.replace(/\?.*/s, '')) === undefined
        ? { code: 'invalid_value', message: 'must be a page of the service' }
        : null,
    ),
  );
  const pathOf = (page: PageName): string => basePath + PAGES[page].path;
  const hrefOf = (page: PageName, to: string | undefined, mark?: Mark, next?: string): string => {
    const parameters = Object.entries({ to, next, [MARK]: mark }).filter(([, text]) => text !== undefined);
    const query = new URLSearchParams(parameters as [string, string][]);
    return `${pathOf(page)}${query.size === 0 ? '' : `?${query}`}`;
  };
  /** The URL of a step. @param to the target; default: the account @param bindingCode of the session that was opened */
  const locationOf = (step: Step, to: string | undefined, mark?: Mark, bindingCode = ''): string => {
    if (step !== 'target') return hrefOf(step, to);
    if (isAppLink(to)) return hrefOf('app', to, mark);
    const url = to ?? pathOf('account');
    if (mark !== undefined) return withParameter(url, MARK, mark).replace(BINDING_CODE_PLACE, bindingCode);
    // `href` is ASCII, as the header `Location` has to be.
    return url.startsWith('/') ? url : new URL(url).href;
  };
  /** `to`, if it is an allowed target. After an error, the query may not have been validated yet. */
  const allowedTarget = (to: unknown): string | undefined => (v.is(target, to) ? to : undefined);
  /** The target of a detour that leads back to `page`: the URL of this page, with an allowed `to` that is no page. For the page `app`, `to` itself. */
  const backTo = (page: PageName, to: unknown): string =>
    (PAGES[page].forwards === 'to-app' && allowedTarget(to)) ||
    hrefOf(page, isWebUrl(to) || isAppLink(to) ? to : undefined);
  /** The URL of a detour that leads back to `page`. @param to the target of `page`; an application there may prove the key if the page `prove` cannot */
  const detourHref = (detour: NonNullable<ReturnType<typeof detourFor>>, page: PageName, to: unknown): string =>
    hrefOf(detour, backTo(page, to), undefined, PAGES[detour].forwards && isWebUrl(to) ? to : undefined);
  return { target, isAppLink, ownLocation, pageAt, pathOf, hrefOf, detourHref, locationOf, allowedTarget, backTo };
};

export type Locations = ReturnType<typeof locations>;

/** Errors of identifying the visitor of a page or a form, besides those of `auth: 'required'`. */
export const VISITOR_ERRORS = ['AUTH_FAILED', 'AUTH_DEVICE_UNPROVEN', 'DB_QUERY_FAILED'] as const;

const DETOURS: Readonly<Partial<Record<ErrorCode, 'step-up' | 'prove' | 'log-in'>>> = {
  AUTH_STEP_UP_REQUIRED: 'step-up',
  AUTH_DEVICE_UNPROVEN: 'prove',
  AUTH_FAILED: 'log-in',
  AUTH_TOKEN_MISSING: 'log-in',
  AUTH_TOKEN_INVALID: 'log-in',
  DB_RECORD_NOT_FOUND: 'log-in',
};

/** The page on which a visitor gets what an error says is missing, such as a log-in. In a form about an item, DB_RECORD_NOT_FOUND may be about the item. */
export const detourFor = (code: ErrorCode) => DETOURS[code] ?? null;

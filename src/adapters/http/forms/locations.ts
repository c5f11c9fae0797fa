import * as v from 'valibot';
import type { ErrorCode } from '../../../domain/errors/catalog.ts';
import { textRule } from '../../json/fields.ts';
import { PAGES, type PageName, type Step } from './flow.ts';
import { challengeIn, TARGET_METADATA, type TargetSettings, targetProblem } from './targets.ts';

/** What a page is told by who leads to it. An application looks whether somebody is there; the client and the script remove it. */
export const MARK = 'tandem';
export const MARKS = {
  loggedIn: 'logged-in',
  loggedOut: 'logged-out',
  /** For the log-in: somebody has logged in, and their browser has not sent the cookie. */
  noCookie: 'no-cookie',
  /** A form has failed. The page says so even if the cookie that has the reason does not arrive. */
  failed: 'failed',
} as const;
type Mark = (typeof MARKS)[keyof typeof MARKS];

/** Where the address that a log-in leads back to gets a code that binds the session, if the application asks for one: also by the page on the way. */
const CODE_PLACE = new RegExp(
  `(?<=(?:[?&]|%3F|%26)tandem_code(?:=|%3D))(?=(?:%23[^&]*)?&${MARK}=${MARKS.loggedIn}(?:#|$))`,
);

/** @param at the URL of an application, a link to an app, or the path of a page of the service. */
export const withParameter = (at: string, name: string, value: string): string => {
  const added = (search: string) => `${search}${search === '' ? '?' : '&'}${name}=${value}`;
  if (at.startsWith('/')) return `${at}${at.includes('?') ? '&' : '?'}${name}=${value}`;
  const url = new URL(at);
  // At the end, and as text: `searchParams` would write the others in another way.
  url.search = added(url.search);
  return url.href;
};

/** Where the pages are, and what they lead to. */
export const locations = (settings: TargetSettings) => {
  const base = new URL(settings.baseUrl).pathname.replace(/\/$/, '');
  /** The page of the service at a path. */
  const pageAt = (to: string): PageName | undefined =>
    // `Object.keys` is typed to return any strings.
    (Object.keys(PAGES) as PageName[]).find((name) => to === base + PAGES[name].path);
  /** Of a page of the service that leads on to an application, or to an app. */
  const isWay = (to: string): boolean => {
    const [path = '', query = ''] = to.split('?');
    const [[name, next] = [], ...others] = new URLSearchParams(query);
    return pageAt(path) !== undefined && name === 'to' && others.length === 0 && (isOfWeb(next) || isOfApp(next));
  };
  const isOfWeb = (to: unknown): to is string => typeof to === 'string' && targetProblem(to, settings) === null;
  const isOfApp = (to: unknown): to is string => typeof to === 'string' && challengeIn(to, settings) !== null;
  /** What the visitor came for: a page of an application or of the service, or an app. */
  const target = v.optional(
    v.pipe(
      v.string(),
      textRule((text) =>
        pageAt(text) === undefined && !isWay(text) && !isOfApp(text) ? targetProblem(text, settings) : null,
      ),
      v.metadata({ jsonSchema: TARGET_METADATA }),
      v.examples(['https://app.example.org/notes']),
    ),
  );
  /** A page of the service with what is in its address. */
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
    const given = Object.entries({ to, [MARK]: mark, next }).filter(([, text]) => text !== undefined);
    const query = new URLSearchParams(given as [string, string][]);
    return `${pathOf(page)}${query.size === 0 ? '' : `?${query}`}`;
  };
  /** @param to what the visitor came for; without it, that is the account. @param bindingCode of the session that was opened. */
  const locationOf = (step: Step, to: string | undefined, mark?: Mark, bindingCode = ''): string => {
    if (step !== 'target') return hrefOf(step, to);
    if (isOfApp(to)) return hrefOf('app', to, mark);
    const at = to ?? pathOf('account');
    if (mark !== undefined) return withParameter(at, MARK, mark).replace(CODE_PLACE, bindingCode);
    // In ASCII, as a header has to be.
    return at.startsWith('/') ? at : new URL(at).href;
  };
  /** What is allowed of what was sent: also an error leads on. */
  const allowed = (to: unknown): string | undefined => (v.is(target, to) ? to : undefined);
  /** What leads back to a page that a visitor cannot have yet, with the application or the app that they came from; to that of an app, the app. */
  const wayTo = (page: PageName, to: unknown): string =>
    (PAGES[page].leadsOn === 'to-app' && allowed(to)) || hrefOf(page, isOfWeb(to) || isOfApp(to) ? to : undefined);
  /** Where a visitor goes who lacks something that a page needs. @param to the application that they come from, which may have the key to prove. */
  const lackingAt = (lacking: NonNullable<ReturnType<typeof pageLacking>>, page: PageName, to: unknown): string =>
    hrefOf(lacking, wayTo(page, to), undefined, PAGES[lacking].leadsOn && isOfWeb(to) ? to : undefined);
  return {
    target,
    isOfApp,
    ownLocation,
    pageAt,
    pathOf,
    hrefOf,
    lackingAt,
    locationOf,
    allowed,
    wayTo,
  };
};

export type Locations = ReturnType<typeof locations>;

/** Who the visitor is may be unknown to every page, and every form. */
export const VISITOR_ERRORS = ['AUTH_FAILED', 'AUTH_DEVICE_UNPROVEN', 'DB_QUERY_FAILED'] as const;

/** Where a visitor goes who lacks something that a page needs. */
const LACKING: Readonly<Partial<Record<ErrorCode, 'step-up' | 'prove' | 'log-in'>>> = {
  AUTH_STEP_UP_REQUIRED: 'step-up',
  AUTH_DEVICE_UNPROVEN: 'prove',
  AUTH_FAILED: 'log-in',
  AUTH_TOKEN_MISSING: 'log-in',
  AUTH_TOKEN_INVALID: 'log-in',
  DB_RECORD_NOT_FOUND: 'log-in',
};

/** DB_RECORD_NOT_FOUND is also what a form may say of an item of a list that is gone. */
export const pageLacking = (code: ErrorCode): 'step-up' | 'prove' | 'log-in' | null => LACKING[code] ?? null;

import querystring from 'node:querystring';
import * as v from 'valibot';
import { textRule } from '../../json/fields.ts';

/** Where the service sends a browser: to pages of applications, never to a route of its own. ADR 0023. */

export type TargetSettings = {
  readonly baseUrl: string;
  /** The origins to which a navigation may go on. */
  readonly targetOrigins: readonly string[];
  /** The links of apps, each with a path and without a query. Default: there are none. */
  readonly appLinks?: readonly string[];
  /** Where operators go on to the back office, which is like an app. Default: it has no log-in. */
  readonly officeLink?: string | null;
};

/** Characters. Browsers and proxies have limits from about 2,000 on. */
const TARGET_MAX_LENGTH = 2_000;

/** Not the `origin` of a URL, which is that of the page in a `blob:` URL as well; and no user that a browser would show. */
const hasOriginOf = ({ protocol, host, username, password }: URL, origins: readonly string[]): boolean =>
  origins.includes(`${protocol}//${host}`) && username === '' && password === '';

/**
 * An encoded slash, backslash, dot, percent sign or control character, or an empty segment. Proxies read some of them as the plain
 * character, and not all in the same way: after that, the path may be another one.
 */
const AMBIGUOUS = /%(?:2[5ef]|5c|7f|[01][\da-f])|\/\//i;

/**
 * Whether it is one below `/auth`, or may become one. Such a route is no page, and a log-out would be a request of the service itself, and
 * no longer of the site that has sent the visitor, when the page for devices with a key goes on to it. In any letter case, like the
 * router, and with letters that are encoded.
 */
const isOwnRoute = ({ host, pathname }: URL, { baseUrl }: TargetSettings): boolean => {
  const base = new URL(baseUrl);
  const plain = (path: string) => querystring.unescape(path).toLowerCase();
  const ofAuth = plain(`${base.pathname.replace(/\/$/, '')}/auth/`);
  return host === base.host && (AMBIGUOUS.test(pathname) || plain(`${pathname}/`).startsWith(ofAuth));
};

/** The length is that of what is sent: characters that are not ASCII become longer. */
export const targetProblem = (text: string, settings: TargetSettings): ReturnType<Parameters<typeof textRule>[0]> => {
  const url = URL.parse(text);
  if (url === null || !hasOriginOf(url, settings.targetOrigins))
    return { code: 'invalid_value', message: 'must be a URL whose origin is allowed' };
  if (url.href.length > TARGET_MAX_LENGTH)
    return { code: 'too_long', message: `must have at most ${TARGET_MAX_LENGTH} characters` };
  return isOwnRoute(url, settings)
    ? { code: 'invalid_value', message: 'must not be a route of the service, nor have an ambiguous path' }
    : null;
};

export const TARGET_METADATA = { type: 'string', maxLength: TARGET_MAX_LENGTH } as const;

const schemaOf = (example: string, problem: Parameters<typeof textRule>[0]) =>
  v.pipe(
    v.string(),
    textRule(problem),
    v.metadata({ jsonSchema: { ...TARGET_METADATA, format: 'uri' } }),
    v.examples([example]),
  );

export const Target = (settings: TargetSettings) =>
  schemaOf('https://app.example.org/notes', (text) => targetProblem(text, settings));

/**
 * The challenge (RFC 7636 §4.2, S256) in the query of a link of the operator to an app; `null`: it is no such link. Compared as text: what a parser
 * would change is none.
 */
export const challengeIn = (text: string, { appLinks = [], officeLink }: TargetSettings): string | null => {
  const url = URL.parse(text);
  if (url?.href !== text || url.hash !== '' || text.length > TARGET_MAX_LENGTH) return null;
  const [challenge = '', ...others] = url.searchParams.getAll('code_challenge');
  const isLink = [...appLinks, officeLink].includes(text.replace(/\?.*/s, '')) && !url.searchParams.has('code');
  return isLink && others.length === 0 && /^[\w-]{43}$/.test(challenge) ? challenge : null;
};

const NO_APP_LINK = {
  code: 'invalid_value',
  message: 'must be one of APP_LINKS with a code_challenge of S256',
} as const;

export const AppLink = (settings: TargetSettings) =>
  schemaOf('com.example.app:/signed-in?code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', (text) =>
    challengeIn(text, settings) === null ? NO_APP_LINK : null,
  );

import querystring from 'node:querystring';
import * as v from 'valibot';
import { textRule } from '../../json/fields.ts';

/** The URLs to which the service redirects browsers: those of applications, never of a route of its own. ADR 0023. */

export type TargetSettings = {
  readonly baseUrl: string;
  readonly targetOrigins: readonly string[];
  /** Each has a path and no query. Default: none. */
  readonly appLinks?: readonly string[];
  /** Of the back office: a log-in returns here with a code, as to an app. Default: it has no log-in. */
  readonly officeLink?: string | null;
};

/** Characters. Browsers and proxies have limits from about 2,000 on. */
const TARGET_MAX_LENGTH = 2_000;

/** The `origin` of a `blob:` URL is that of its page, so `host` is compared. A user name would be shown by browsers, and could mislead. */
const hasOriginOf = ({ protocol, host, username, password }: URL, origins: readonly string[]): boolean =>
  origins.includes(`${protocol}//${host}`) && username === '' && password === '';

/** Encoded slashes, backslashes, dots, percent signs and control characters, and empty segments: proxies may decode some of them. */
const AMBIGUOUS = /%(?:2[5ef]|5c|7f|[01][\da-f])|\/\//i;

/**
 * Whether the path is below `/auth`, or may be for a proxy. A page of the service that goes on to the log-out would make it a request of the same
 * site. In any letter case, like the router, and with encoded letters.
 */
const isOwnRoute = ({ host, pathname }: URL, { baseUrl }: TargetSettings): boolean => {
  const base = new URL(baseUrl);
  const plain = (path: string) => querystring.unescape(path).toLowerCase();
  const ofAuth = plain(`${base.pathname.replace(/\/$/, '')}/auth/`);
  return host === base.host && (AMBIGUOUS.test(pathname) || plain(`${pathname}/`).startsWith(ofAuth));
};

/** The length is that of `href`, in which characters that are not ASCII are encoded. */
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

/** The challenge (RFC 7636 §4.2, S256) in a link to an app; `null`: it is no such link, or a parser would change it. */
export const challengeIn = (text: string, { appLinks = [], officeLink }: TargetSettings): string | null => {
  const url = URL.parse(text);
  if (url?.href !== text || url.hash !== '' || text.length > TARGET_MAX_LENGTH) return null;
  const [challenge = '', ...others] = url.searchParams.getAll('code_challenge');
  const isLink = [...appLinks, officeLink].includes(text.replace(/\?.*/s, '')) && !url.searchParams.has('code');
  return isLink && others.length === 0 && /^[\w-]{43}$/.test(challenge) ? challenge : null;
};

export const AppLink = (settings: TargetSettings) =>
  schemaOf('com.example.app:/signed-in?code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', (text) =>
    challengeIn(text, settings) === null
      ? { code: 'invalid_value', message: 'must be one of APP_LINKS with a code_challenge of S256' }
      : null,
  );

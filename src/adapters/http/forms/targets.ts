import querystring from 'node:querystring';
import * as v from 'valibot';
import { textRule } from '../../json/fields.ts';

/** The URLs of applications and links to apps to which the service redirects browsers. No URL below `/auth` of the service is one (ADR 0023). */

export type TargetSettings = {
  readonly baseUrl: string;
  readonly targetOrigins: readonly string[];
  /** Links that open apps, with a path and without a query. Default: none. */
  readonly appLinks?: readonly string[];
  /** The link of the back office, to which a log-in returns with a code, as to an app. Default, and `null`: there is none. */
  readonly officeLink?: string | null;
};

/** Characters. Browsers and proxies have limits from about 2,000 on. */
const TARGET_MAX_LENGTH = 2_000;

/** Not by `origin`: that of a `blob:` URL is its page's. A username could mislead users. Any program can claim the scheme of an app. */
const hasOriginOf = ({ protocol, host, username, password }: URL, origins: readonly string[]): boolean =>
  /^https?:$/.test(protocol) && origins.includes(`${protocol}//${host}`) && username === '' && password === '';

/** Encoded slashes, backslashes, dots, percent signs and control characters, and empty segments, which proxies may decode or remove. */
const AMBIGUOUS_PATH = /%(?:2[5ef]|5c|7f|[01][\da-f])|\/\//i;

/**
 * Whether a URL is below `/auth` of the service, or may be so for a proxy that decodes its path. As a target, the path of the log-out would log its
 * visitor out, since the request would come from a page of the service. The router ignores letter case, and a proxy may decode letters: so does this.
 */
const isOwnRoute = ({ host, pathname }: URL, { baseUrl }: TargetSettings): boolean => {
  const base = new URL(baseUrl);
  const normalized = (path: string) => querystring.unescape(path).toLowerCase();
  const authPath = normalized(`${base.pathname.replace(/\/$/, '')}/auth/`);
  return host === base.host && (AMBIGUOUS_PATH.test(pathname) || normalized(`${pathname}/`).startsWith(authPath));
};

/** The problem of a URL that is no allowed target; `null`: it is one. The limit is for `href`, in which characters that are not ASCII are encoded. */
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

const urlSchema = (example: string, problem: Parameters<typeof textRule>[0]) =>
  v.pipe(
    v.string(),
    textRule(problem),
    v.metadata({ jsonSchema: { ...TARGET_METADATA, format: 'uri' } }),
    v.examples([example]),
  );

export const Target = (settings: TargetSettings) =>
  urlSchema('https://app.example.org/notes', (text) => targetProblem(text, settings));

/** The challenge (RFC 7636 §4.2, S256) in a link to an app or the back office; `null`: the text is no allowed link of this kind. */
export const challengeIn = (text: string, { appLinks = [], officeLink }: TargetSettings): string | null => {
  const url = URL.parse(text);
  if (url?.href !== text || url.hash !== '' || text.length > TARGET_MAX_LENGTH) return null;
  const [challenge = '', ...others] = url.searchParams.getAll('code_challenge');
  const isLink = [...appLinks, officeLink].includes(text.replace(/\?.*/s, '')) && !url.searchParams.has('code');
  return isLink && others.length === 0 && /^[\w-]{43}$/.test(challenge) ? challenge : null;
};

export const AppLink = (settings: TargetSettings) =>
  urlSchema('com.example.app:/signed-in?code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', (text) =>
    challengeIn(text, settings) === null
      ? { code: 'invalid_value', message: 'must be one of APP_LINKS with a code_challenge of S256' }
      : null,
  );

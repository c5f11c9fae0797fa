import * as v from 'valibot';
import type { AccessCookieSettings } from '../../adapters/http/request/settings.ts';
import { hostOf } from '../../adapters/redis/url.ts';
import * as form from './schemas.ts';
import { baseUrlOf, ORIGIN_NAMES, type OriginValues, originSettings, type ServiceValues } from './service.ts';
import { type TokenValues, tokenSettings } from './tokens.ts';
import type { Rule, ValuesOf, Variable } from './variable.ts';

const MAX_PAGE_SERVERS = 20;

/** Pages that a server renders. ADR 0023. */
export const RENDERING_VARIABLES = {
  ACCESS_COOKIE: {
    schema: form.flag,
    expected: 'true or false',
    default: 'false',
    meaning:
      'Whether browsers also get the access token as an HttpOnly cookie, for servers that render pages. The service itself never reads it. Requires LOGIN_PAGE_URL.',
  },
  ACCESS_COOKIE_DOMAIN: {
    schema: v.optional(form.domain),
    expected: 'a domain in lower case, without scheme and port, such as example.com',
    unset: 'the host of the service alone',
    meaning:
      'The domain whose hosts get the cookie of the access token, if pages are at another host than the service. All of its hosts get it.',
  },
  LOGIN_PAGE_URL: {
    schema: v.optional(form.pageUrl),
    expected: 'an http or https URL without credentials and fragment',
    unset: 'none',
    meaning:
      'The page that logs in: GET /auth/continue leads to it when nobody is logged in, with the page to return to in the parameter `to`. At an allowed origin.',
  },
  PAGE_SERVERS: {
    schema: v.optional(form.pageServers(MAX_PAGE_SERVERS)),
    expected: `1 to ${MAX_PAGE_SERVERS} of id:hash, separated by commas, each hash the SHA-256 of a secret in base64url (43 characters)`,
    unset: 'none',
    meaning:
      'The servers that may ask for access tokens of their visitors with POST /auth/access-token: the id and the hash of the secret of each. npx tandem keys page-server makes one.',
  },
} as const satisfies Record<string, Variable>;

/** The cookie has the attributes of the refresh cookie, and the pages are at allowed origins. */
type Values = ValuesOf<typeof RENDERING_VARIABLES> & TokenValues & ServiceValues;

export const renderingSettings = (values: Values) => ({
  /** `null`: access tokens are in responses alone. */
  accessCookie: values.ACCESS_COOKIE ? accessCookieOf(values) : null,
  /** Where navigations are renewed; `null`: nowhere. */
  navigation:
    values.ACCESS_COOKIE && values.LOGIN_PAGE_URL !== undefined
      ? { loginPageUrl: values.LOGIN_PAGE_URL, targetOrigins: originsOf(values) }
      : null,
  pageServers: values.PAGE_SERVERS ?? [],
});

/** Browsers hold these prefixes to their promises (RFC 6265bis §4.1.3): no other host, and no page over http, can have set the cookie. */
const prefixOf = (secure: boolean, domain: string | undefined): string => {
  if (!secure) return '';
  return domain === undefined ? '__Host-' : '__Secure-';
};

const accessCookieOf = (values: Values): AccessCookieSettings => {
  const { ACCESS_COOKIE_DOMAIN: domain, JWT_REFRESH_COOKIE_SECURE: secure } = values;
  return {
    name: `${prefixOf(secure, domain)}access_token`,
    path: '/',
    sameSite: 'lax',
    secure,
    maxAge: tokenSettings(values).accessLifetime,
    ...(domain !== undefined && { domain }),
  };
};

export const renderingErrors = (values: Partial<Values>): Rule[] => {
  const { ACCESS_COOKIE_DOMAIN: domain, LOGIN_PAGE_URL: page, BASE_URL: url } = values;
  const host = url === undefined ? 'localhost' : hostOf(new URL(url));
  return [
    [
      values.ACCESS_COOKIE === true && 'LOGIN_PAGE_URL' in values && page === undefined,
      'LOGIN_PAGE_URL: required with ACCESS_COOKIE=true',
    ],
    [
      page !== undefined && knowsOrigins(values) && !originsOf(values).includes(new URL(page).origin),
      `LOGIN_PAGE_URL: must be at an origin of ${values.NODE_ENV === 'production' ? 'ALLOWED_ORIGINS_PROD' : 'ALLOWED_ORIGINS_DEV'}, or at that of BASE_URL`,
    ],
    [
      'BASE_URL' in values && domain !== undefined && domain !== host && !host.endsWith(`.${domain}`),
      'ACCESS_COOKIE_DOMAIN: must be the host of BASE_URL, or a domain above it',
    ],
    [
      domain !== undefined && !domain.includes('.') && host.endsWith(`.${domain}`),
      'ACCESS_COOKIE_DOMAIN: must not be a top-level domain, for which browsers keep no cookie',
    ],
  ];
};

/** Whether all variables are valid that say which origins are allowed. */
const knowsOrigins = (values: Partial<Values>): values is Partial<Values> & OriginValues =>
  ORIGIN_NAMES.every((name) => name in values);

/** Those of the service and of `ALLOWED_ORIGINS`. Not those of `WEBAUTHN_ORIGINS`, which may use passkeys and nothing else. */
const originsOf = (values: OriginValues): readonly string[] => {
  const { ownOrigins, allowedOrigins } = originSettings(values);
  return [...new Set([...ownOrigins, ...allowedOrigins])];
};

/** Browsers keep cookies by host, whatever the port is. */
const isAtAnotherHost = (values: Values): boolean =>
  values.LOGIN_PAGE_URL !== undefined && hostOf(new URL(values.LOGIN_PAGE_URL)) !== hostOf(new URL(baseUrlOf(values)));

export const renderingWarnings = (values: Values): Rule[] => {
  const { ACCESS_COOKIE: hasCookie, ACCESS_COOKIE_DOMAIN: domain, JWT_REFRESH_COOKIE_PATH: path } = values;
  return [
    [!hasCookie && domain !== undefined, 'ACCESS_COOKIE_DOMAIN has no effect without ACCESS_COOKIE=true'],
    [!hasCookie && values.LOGIN_PAGE_URL !== undefined, 'LOGIN_PAGE_URL has no effect without ACCESS_COOKIE=true'],
    [
      hasCookie && values.JWT_REFRESH_COOKIE_SAME_SITE === 'strict',
      'JWT_REFRESH_COOKIE_SAME_SITE is strict: visitors who follow a link in a mail or of another site have to log in again once the cookie of ACCESS_COOKIE has expired',
    ],
    [
      hasCookie && values.JWT_REFRESH_RACE_WINDOW === 0,
      'JWT_REFRESH_RACE_WINDOW is 0: with ACCESS_COOKIE, two pages that load at once end the session',
    ],
    [
      hasCookie && values.JWT_REFRESH_REPLAY_WINDOW === 0,
      'JWT_REFRESH_REPLAY_WINDOW is 0: with ACCESS_COOKIE, a visitor who leaves a page while it renews the session loses it. 10s is recommended',
    ],
    [
      hasCookie && domain === undefined && isAtAnotherHost(values),
      'LOGIN_PAGE_URL is at another host than BASE_URL: its pages get no cookie of ACCESS_COOKIE without ACCESS_COOKIE_DOMAIN',
    ],
    [
      values.PAGE_SERVERS !== undefined && path !== '/',
      'PAGE_SERVERS is set, but browsers send the refresh cookie to no page: JWT_REFRESH_COOKIE_PATH has to be /',
    ],
  ];
};

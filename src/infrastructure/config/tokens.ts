import * as v from 'valibot';
import { isPlainHttp } from './hosts.ts';
import * as form from './schemas.ts';
import { DAY, MAX_DURATION } from './schemas.ts';
import type { ServiceValues } from './service.ts';
import type { Rule, ValuesOf, Variable } from './variable.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** Milliseconds. Races between tabs and lost responses end within seconds, at most within a request time-out. */
const MAX_RACE_WINDOW = 5 * MINUTE;

/** Of a cookie for the whole host (draft-ietf-httpbis-layered-cookies). */
const HOST_PREFIX = '__Host-Http-';

const PRIVATE_KEY = 'one private key in PEM, PKCS#8 or SEC1';
const PUBLIC_KEYS = 'one or more public keys in PEM, SPKI';
const KEYS_UNSET = 'generated in DATA_DIR (production: required)';
const STRING_OR_URI = 'up to 200 visible ASCII characters, and a URI if there is a colon among them';
const WINDOW = 'a duration such as 10s or 1m, at most 5m';
const DURATION = 'a duration such as 10s, 15m, 12h or 7d, at most 3650d';

/** SPEC "Key configuration", "Refresh cookie". */
export const TOKEN_VARIABLES = {
  JWT_ACCESS_PRIVATE_KEY: {
    schema: v.optional(v.string()),
    expected: PRIVATE_KEY,
    unset: KEYS_UNSET,
    meaning:
      'The private key that signs access tokens: EC P-256 in PEM (PKCS#8 or SEC1), with line breaks or the text \\n.',
  },
  JWT_ACCESS_PUBLIC_KEY: {
    schema: v.optional(v.string()),
    expected: PUBLIC_KEYS,
    unset: KEYS_UNSET,
    meaning:
      'The public keys that verify access tokens: EC P-256 in PEM. The first belongs to the private key; others are still accepted.',
  },
  JWT_REFRESH_PRIVATE_KEY: {
    schema: v.optional(v.string()),
    expected: PRIVATE_KEY,
    unset: KEYS_UNSET,
    meaning: 'The private key that signs refresh tokens, of a separate key pair.',
  },
  JWT_REFRESH_PUBLIC_KEY: {
    schema: v.optional(v.string()),
    expected: PUBLIC_KEYS,
    unset: KEYS_UNSET,
    meaning: 'The public keys that verify refresh tokens.',
  },
  JWT_ISSUER: {
    schema: v.optional(form.stringOrUri),
    expected: STRING_OR_URI,
    unset: 'no iss claim',
    meaning: 'The iss claim of both tokens. Tokens with another one are rejected, so a change logs out all users.',
  },
  JWT_AUDIENCE: {
    schema: v.optional(form.stringOrUri),
    expected: STRING_OR_URI,
    unset: 'no aud claim',
    meaning: 'The aud claim of both tokens. Tokens with another one are rejected, so a change logs out all users.',
  },
  JWT_ACCESS_EXPIRES_IN: {
    schema: v.optional(form.duration),
    expected: DURATION,
    unset: '15m, at most JWT_REFRESH_EXPIRES_IN',
    meaning: 'The lifetime of an access token. Other services that verify it accept it as long.',
  },
  JWT_REFRESH_EXPIRES_IN: {
    schema: form.duration,
    expected: DURATION,
    default: '7d',
    meaning: 'The lifetime of a refresh token.',
  },
  SESSION_MAX_LIFETIME: {
    schema: v.union([
      v.pipe(
        v.literal('off'),
        v.transform(() => null),
      ),
      form.duration,
    ]),
    expected: `${DURATION}, or off`,
    default: '30d',
    meaning:
      'After how long a user has to authenticate again, however often the session is renewed (NIST SP 800-63B-4 §2); off for never.',
  },
  JWT_AUTHENTICATION_CLAIMS: {
    schema: form.flag,
    expected: 'true or false',
    default: 'false',
    meaning:
      'Whether access tokens say when and how the user has authenticated: the claims auth_time, amr and acr (RFC 9068).',
  },
  JWT_REFRESH_RACE_WINDOW: {
    schema: v.optional(form.durationFromZeroTo(MAX_RACE_WINDOW)),
    expected: `${WINDOW}, or 0`,
    unset: '10s, at most a tenth of JWT_REFRESH_EXPIRES_IN',
    meaning: 'How long after its rotation a replayed refresh token counts as a race rather than as theft; at most 5m.',
  },
  JWT_REFRESH_REPLAY_WINDOW: {
    schema: form.durationFromZeroTo(MAX_RACE_WINDOW),
    expected: `${WINDOW}, or 0 for off`,
    default: '0',
    meaning:
      'How long after its rotation a refresh token still returns its successor; at most JWT_REFRESH_RACE_WINDOW, 0 is off. 10s is recommended for browser front ends.',
  },
  DEVICE_BINDING: {
    schema: v.picklist(['off', 'observe', 'enforce']),
    expected: 'off, observe or enforce',
    default: 'enforce',
    meaning:
      'Whether the sessions of devices that registered a key are refreshed only with a proof of it: enforce, observe (what enforce would refuse is counted) or off.',
  },
  JWT_REFRESH_COOKIE_PREFIX: {
    schema: v.optional(v.picklist(['__Http-', HOST_PREFIX])),
    expected: '__Http- or __Host-Http-',
    unset: 'none',
    meaning:
      "What the names of the refresh cookie and of the log-in's cookies begin with, for front ends that do not need the name refresh_token: __Http- (no script can have set it) or __Host-Http- (nor another host; its path is /). Requires JWT_REFRESH_COOKIE_SECURE=true. A change logs all browsers out.",
  },
  JWT_REFRESH_COOKIE_PATH: {
    schema: v.optional(form.cookiePath),
    expected: 'a path that starts with / and has no space, comma, semicolon or control character',
    unset: '/auth, below the path of BASE_URL; / with __Host-Http-',
    meaning:
      'The Path of the refresh cookie, as browsers see it: /auth below the path of BASE_URL, or a parent of that path.',
  },
  JWT_REFRESH_COOKIE_SAME_SITE: {
    schema: v.picklist(['lax', 'strict', 'none']),
    expected: 'lax, strict or none',
    default: 'lax',
    meaning:
      'The SameSite attribute of the refresh cookie: lax, strict or none. none requires JWT_REFRESH_COOKIE_SECURE=true.',
  },
  JWT_REFRESH_COOKIE_SECURE: {
    schema: form.flag,
    expected: 'true or false',
    default: 'false',
    meaning: 'Whether the refresh cookie is Secure. Must be true in production.',
  },
  JWT_REFRESH_COOKIE_MAX_AGE_MS: {
    schema: form.wholeNumber(1_000, MAX_DURATION),
    expected: `a whole number of milliseconds from 1000 to ${MAX_DURATION}`,
    default: '604800000',
    meaning: 'How long browsers keep the refresh cookie, in milliseconds.',
  },
} as const satisfies Record<string, Variable>;

export type TokenValues = ValuesOf<typeof TOKEN_VARIABLES>;
/** The cookie depends on BASE_URL and the origins. */
type Values = TokenValues & ServiceValues;

export const tokenSettings = (values: Values) => {
  const { JWT_REFRESH_EXPIRES_IN: refreshLifetime } = values;
  return {
    /** The `iss` and the `aud` of both tokens; `null` is none. */
    issuer: values.JWT_ISSUER ?? null,
    audience: values.JWT_AUDIENCE ?? null,
    /**
     * Milliseconds, as are all lifetimes and windows. SPEC "Token scheme": 15 minutes, or the lifetime of the refresh token if that is
     * shorter.
     */
    accessLifetime: values.JWT_ACCESS_EXPIRES_IN ?? Math.min(15 * MINUTE, refreshLifetime),
    refreshLifetime,
    /** `null`: sessions may be renewed for ever. */
    sessionMaxLifetime: values.SESSION_MAX_LIFETIME,
    authenticationClaims: values.JWT_AUTHENTICATION_CLAIMS,
    raceWindow: raceWindowOf(values.JWT_REFRESH_RACE_WINDOW, refreshLifetime),
    replayWindow: values.JWT_REFRESH_REPLAY_WINDOW,
    deviceBinding: values.DEVICE_BINDING,
    /** Milliseconds. `null`: no key of a browser, which needs https and a Secure cookie. */
    boundCookieLifetime: canBindBrowsers(values) ? 10 * MINUTE : null,
    refreshCookie: {
      ...(values.JWT_REFRESH_COOKIE_PREFIX !== undefined && { prefix: values.JWT_REFRESH_COOKIE_PREFIX }),
      path: cookiePathOf(values),
      sameSite: values.JWT_REFRESH_COOKIE_SAME_SITE,
      secure: values.JWT_REFRESH_COOKIE_SECURE,
      /** Milliseconds. */
      maxAge: values.JWT_REFRESH_COOKIE_MAX_AGE_MS,
    },
  };
};

const canBindBrowsers = ({
  DEVICE_BINDING: binding,
  BASE_URL: url,
  JWT_REFRESH_COOKIE_SECURE: secure,
}: Values): boolean => binding !== 'off' && secure && url?.startsWith('https:') === true;

/** Milliseconds: a tenth of the lifetime, so that a replay counts as theft for the rest of it. */
const longestWindow = (refreshLifetime: number): number => Math.min(MAX_RACE_WINDOW, Math.floor(refreshLifetime / 10));

const raceWindowOf = (race: number | undefined, refreshLifetime: number): number =>
  race ?? Math.min(10 * SECOND, longestWindow(refreshLifetime));

const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`);

/** The path of the routes below `/auth`, as a browser sees it. A proxy may strip the path of BASE_URL. */
const authPath = (baseUrl: string | undefined): string =>
  `${baseUrl === undefined ? '/' : withSlash(new URL(baseUrl).pathname)}auth`;

/** SPEC "Refresh cookie": `/auth`, as the browser sees it. */
const cookiePathOf = (values: Partial<Values>): string =>
  values.JWT_REFRESH_COOKIE_PATH ??
  (values.JWT_REFRESH_COOKIE_PREFIX === HOST_PREFIX ? '/' : authPath(values.BASE_URL));

/** Whether browsers send a cookie with its path to refresh and log-out (RFC 6265 §5.1.4). */
const coversAuth = (values: Partial<Values>): boolean =>
  withSlash(authPath(values.BASE_URL)).startsWith(withSlash(cookiePathOf(values)));

export const tokenErrors = (values: Partial<Values>): Rule[] => [...cookieErrors(values), ...lifetimeErrors(values)];

/** SPEC "Refresh cookie"; RFC 6265bis §5.7 for SameSite=None. */
const cookieErrors = (values: Partial<Values>): Rule[] => {
  const production = values.NODE_ENV === 'production';
  const insecure = values.JWT_REFRESH_COOKIE_SECURE === false;
  // Without BASE_URL in development, there may be a proxy that adds a path.
  const knowsPath = 'BASE_URL' in values && (production || values.BASE_URL !== undefined);
  return [
    [production && insecure, 'JWT_REFRESH_COOKIE_SECURE: must be true in production'],
    [
      !production && insecure && values.JWT_REFRESH_COOKIE_SAME_SITE === 'none',
      'JWT_REFRESH_COOKIE_SECURE: must be true when JWT_REFRESH_COOKIE_SAME_SITE is none',
    ],
    [
      !production && insecure && values.JWT_REFRESH_COOKIE_PREFIX !== undefined,
      'JWT_REFRESH_COOKIE_SECURE: must be true with JWT_REFRESH_COOKIE_PREFIX',
    ],
    [
      values.JWT_REFRESH_COOKIE_PREFIX === HOST_PREFIX && cookiePathOf(values) !== '/',
      'JWT_REFRESH_COOKIE_PATH: must be / with __Host-Http-',
    ],
    [
      !v.is(form.cookiePath, cookiePathOf(values)),
      'BASE_URL: its path must be valid as the Path of a cookie, without commas and semicolons',
    ],
    [
      knowsPath && !coversAuth(values),
      'JWT_REFRESH_COOKIE_PATH: must be the path of BASE_URL followed by /auth, or a parent of that path, such as /',
    ],
  ];
};

const lifetimeErrors = (values: Partial<Values>): Rule[] => {
  const { JWT_REFRESH_EXPIRES_IN: lifetime, JWT_REFRESH_RACE_WINDOW: race } = values;
  if (lifetime === undefined) return [];
  const isAbove = (value: number | undefined, limit: number): boolean => value !== undefined && value > limit;
  return [
    [
      isAbove(values.JWT_ACCESS_EXPIRES_IN, lifetime),
      'JWT_ACCESS_EXPIRES_IN: must not be above JWT_REFRESH_EXPIRES_IN',
    ],
    [
      isAbove(race, longestWindow(lifetime)),
      'JWT_REFRESH_RACE_WINDOW: must not be above a tenth of JWT_REFRESH_EXPIRES_IN',
    ],
    [
      'JWT_REFRESH_RACE_WINDOW' in values && isAbove(values.JWT_REFRESH_REPLAY_WINDOW, raceWindowOf(race, lifetime)),
      'JWT_REFRESH_REPLAY_WINDOW: must not be above JWT_REFRESH_RACE_WINDOW',
    ],
  ];
};

export const tokenWarnings = (values: Values): Rule[] => {
  const production = values.NODE_ENV === 'production';
  const origins = production ? values.ALLOWED_ORIGINS_PROD : values.ALLOWED_ORIGINS_DEV;
  return [
    [
      values.BASE_URL !== undefined && isPlainHttp(values.BASE_URL) && (production || values.JWT_REFRESH_COOKIE_SECURE),
      'BASE_URL is http: passwords and tokens are sent unencrypted, and browsers reject Secure cookies',
    ],
    [
      values.JWT_REFRESH_COOKIE_SAME_SITE === 'none' && origins.length === 0,
      'JWT_REFRESH_COOKIE_SAME_SITE is none, but no origin is allowed: use lax or strict to keep the cookie from other sites',
    ],
    [
      !coversAuth(values),
      'JWT_REFRESH_COOKIE_PATH does not cover /auth: refresh and log-out do not receive the cookie. If a proxy adds a path, set BASE_URL',
    ],
    [
      values.JWT_REFRESH_COOKIE_MAX_AGE_MS < values.JWT_REFRESH_EXPIRES_IN,
      'JWT_REFRESH_COOKIE_MAX_AGE_MS is below JWT_REFRESH_EXPIRES_IN: browsers delete refresh tokens before they expire',
    ],
    [
      production && (values.JWT_ACCESS_EXPIRES_IN ?? 0) > DAY,
      'JWT_ACCESS_EXPIRES_IN is above a day: other services accept access tokens of ended sessions until they expire',
    ],
  ];
};

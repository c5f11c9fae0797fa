import * as format from './formats.ts';
import { pageServers, privateKey, publicKeys } from './keys.ts';
import { pageUrl } from './urls.ts';

/** A `path-value` of RFC 6265 §4.1.1 without spaces and commas. */
export const cookiePath = format.textFormat(
  'a path that starts with / and has no space, comma, semicolon or control character',
  (text) => /^\/[!-+\--:<-~]*$/.test(text),
);

/** `StringOrURI` (RFC 7519 §2), limited in length, since the refresh token has to fit into a cookie. */
const stringOrUri = format.textFormat(
  'up to 200 visible ASCII characters, and a URI if there is a colon among them',
  (text) => /^[!-~]{1,200}$/.test(text) && (!text.includes(':') || URL.canParse(text)),
);

const KEYS_UNSET = 'generated in DATA_DIR (production: required)';

/** Variables of tokens, sessions and their cookies, including those of SPEC "Key configuration" and "Refresh cookie". */
export const SESSION_VARIABLES = {
  JWT_ACCESS_PRIVATE_KEY: {
    format: privateKey,
    secret: true,
    unset: KEYS_UNSET,
    meaning:
      'The private key that signs access tokens: EC P-256 in PEM (PKCS#8 or SEC1), with line breaks or the text \\n.',
  },
  JWT_ACCESS_PUBLIC_KEY: {
    format: publicKeys,
    secret: true,
    unset: KEYS_UNSET,
    meaning:
      'The public keys that verify access tokens: EC P-256 in PEM. The first belongs to the private key; others are still accepted.',
  },
  JWT_REFRESH_PRIVATE_KEY: {
    format: privateKey,
    secret: true,
    unset: KEYS_UNSET,
    meaning: 'The private key that signs refresh tokens, of a separate key pair.',
  },
  JWT_REFRESH_PUBLIC_KEY: {
    format: publicKeys,
    secret: true,
    unset: KEYS_UNSET,
    meaning: 'The public keys that verify refresh tokens.',
  },
  JWT_ISSUER: {
    format: stringOrUri,
    unset: 'no iss claim',
    meaning: 'The iss claim of both tokens. Tokens with another one are rejected, so a change logs out all users.',
  },
  JWT_AUDIENCE: {
    format: stringOrUri,
    unset: 'no aud claim',
    meaning: 'The aud claim of both tokens. Tokens with another one are rejected, so a change logs out all users.',
  },
  JWT_ACCESS_EXPIRES_IN: {
    format: format.duration,
    unset: '15m, at most JWT_REFRESH_EXPIRES_IN',
    meaning:
      'The lifetime of an access token. Services that verify tokens themselves accept one until it expires, unless they follow the ended sessions.',
  },
  JWT_REFRESH_EXPIRES_IN: { format: format.duration, default: '7d', meaning: 'The lifetime of a refresh token.' },
  SESSION_MAX_LIFETIME: {
    format: format.durationOrOff,
    default: '30d',
    meaning:
      'After how long a user has to authenticate again, however often the session is renewed (NIST SP 800-63B-4 §2); off for never.',
  },
  JWT_AUTHENTICATION_CLAIMS: {
    format: format.flag,
    default: 'false',
    meaning:
      'Whether access tokens say when and how the user has authenticated: the claims auth_time, amr and acr (RFC 9068).',
  },
  JWT_SESSION_CLAIM: {
    format: format.flag,
    default: 'false',
    meaning:
      'Whether access tokens name their session in the claim sid as well as in their header, for gateways that cannot see headers.',
  },
  JWT_BINDING: {
    format: format.oneOf('off', 'on'),
    default: 'off',
    meaning:
      'Whether an access token of a session with a key of its device is bound to that key: each request with it needs a proof (DPoP, RFC 9449). Services that verify tokens have to demand proofs first. Requires DEVICE_BINDING=enforce.',
  },
  JWT_REFRESH_RACE_WINDOW: {
    format: format.durationFromZero('5m'),
    unset: '10s, at most a tenth of JWT_REFRESH_EXPIRES_IN',
    meaning: 'How long after its rotation a replayed refresh token counts as a race rather than as theft; at most 5m.',
  },
  JWT_REFRESH_REPLAY_WINDOW: {
    format: format.durationFromZero('5m'),
    default: '0',
    meaning:
      'How long after its rotation a refresh token still returns its successor; at most JWT_REFRESH_RACE_WINDOW, 0 is off. 10s is recommended for browser front ends.',
  },
  DEVICE_BINDING: {
    format: format.oneOf('off', 'observe', 'enforce'),
    default: 'enforce',
    meaning:
      'Whether the sessions of devices that registered a key are refreshed only with a proof of it: enforce, observe (what enforce would refuse is counted) or off.',
  },
  CLEAR_SITE_DATA: {
    format: format.someOf(['cache', 'cookies', 'storage'] as const),
    default: 'off',
    meaning:
      "What browsers remove at a log-out or the deletion of the account, by the header Clear-Site-Data: cache and storage (of the service's origin), cookies (of all hosts of its site), or some of these. storage includes the key of the device, and cookies the devices that are remembered: the next log-in is one on a new device.",
  },
  JWT_REFRESH_COOKIE_PREFIX: {
    format: format.oneOf('__Http-', '__Host-Http-'),
    meaning:
      'What the names of the refresh cookie and of most cookies for log-ins and pages begin with, for front ends that do not need the name refresh_token: __Http- (no script can set such a cookie) or __Host-Http- (nor can another host, and its path is /). Requires JWT_REFRESH_COOKIE_SECURE=true. A change logs all browsers out.',
  },
  JWT_REFRESH_COOKIE_PATH: {
    format: cookiePath,
    unset: '/auth, below the path of BASE_URL; / with __Host-Http-',
    meaning:
      'The Path of the refresh cookie, as browsers see it: /auth below the path of BASE_URL, or a parent of that path.',
  },
  JWT_REFRESH_COOKIE_SAME_SITE: {
    format: format.oneOf('lax', 'strict', 'none'),
    default: 'lax',
    meaning:
      'The SameSite attribute of the refresh cookie: lax, strict or none. none requires JWT_REFRESH_COOKIE_SECURE=true.',
  },
  JWT_REFRESH_COOKIE_SECURE: {
    format: format.flag,
    default: 'false',
    meaning: 'Whether the refresh cookie is Secure. Must be true in production.',
  },
  JWT_REFRESH_COOKIE_MAX_AGE_MS: {
    format: format.milliseconds(1_000, format.TEN_YEARS),
    default: '604800000',
    meaning: 'How long browsers keep the refresh cookie, in milliseconds.',
  },
  ACCESS_COOKIE: {
    format: format.flag,
    default: 'false',
    meaning:
      'Whether browsers also get the access token as an HttpOnly cookie, for servers that render pages. The service itself never reads it.',
  },
  ACCESS_COOKIE_DOMAIN: {
    format: format.domain,
    unset: 'the host of the service alone',
    meaning:
      'The domain whose hosts get the cookie of the access token, if pages are at another host than the service. All of its hosts get it.',
  },
  LOGIN_PAGE_URL: {
    format: pageUrl,
    unset: '/auth/log-in of the service; with ACCOUNT_PAGES=off: none',
    meaning:
      'The page that logs in: GET /auth/continue leads to it when nobody is logged in, with the page to return to in the parameter `to`. It has to be at an allowed origin, or that of BASE_URL.',
  },
  PAGE_SERVERS: {
    format: pageServers(20),
    meaning:
      'The servers that may ask for access tokens of their visitors with POST /auth/access-token: the id and the hash of the secret of each. npx tandem keys page-server makes one.',
  },
} as const satisfies Record<string, format.Variable>;

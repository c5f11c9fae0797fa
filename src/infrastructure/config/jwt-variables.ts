import * as v from 'valibot';
import { MAX_DURATION } from './duration.ts';
import * as form from './schemas.ts';
import type { Variable } from './variable.ts';

const PRIVATE_KEY = 'one private key in PEM, PKCS#8 or SEC1';
const PUBLIC_KEYS = 'one or more public keys in PEM, SPKI';
const KEYS_UNSET = 'generated in DATA_DIR (production: required)';
const PARTY = 'up to 200 visible ASCII characters, and a URI if there is a colon among them';
const WINDOW = 'a duration such as 10s or 1m, at most 5m';
const DURATION = 'a duration such as 10s, 15m, 12h or 7d, at most 3650d';

/** SPEC "Key configuration", "Refresh cookie". */
export const JWT_VARIABLES = {
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
    expected: PARTY,
    unset: 'no iss claim',
    meaning: 'The iss claim of both tokens. Tokens with another one are rejected, so a change logs out all users.',
  },
  JWT_AUDIENCE: {
    schema: v.optional(form.stringOrUri),
    expected: PARTY,
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
  JWT_REFRESH_RACE_WINDOW: {
    schema: v.optional(form.window),
    expected: `${WINDOW}, or 0`,
    unset: '10s, at most a tenth of JWT_REFRESH_EXPIRES_IN',
    meaning: 'How long after its rotation a replayed refresh token counts as a race rather than as theft; at most 5m.',
  },
  JWT_REFRESH_REPLAY_WINDOW: {
    schema: form.window,
    expected: `${WINDOW}, or 0 for off`,
    default: '0',
    meaning:
      'How long after its rotation a refresh token still returns its successor; at most JWT_REFRESH_RACE_WINDOW, 0 is off. 10s is recommended for browser front ends.',
  },
  JWT_REFRESH_COOKIE_PATH: {
    schema: v.optional(form.cookiePath),
    expected: 'a path that starts with / and has no space, comma, semicolon or control character',
    unset: '/auth, below the path of BASE_URL',
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

import { redactError } from '../../adapters/log/redact-error.ts';

/** Characters of a text in a line. Longer texts are truncated. */
const MAX_TEXT = 4_000;
/** Values that are nested deeper are left out. */
const MAX_DEPTH = 6;
const CENSORED = '[Redacted]';

/** Members whose values are never logged, at any depth and in any letter case. */
export const SECRET_NAMES = [
  'authorization',
  'cookie',
  'set-cookie',
  'secure-session-registration',
  'secure-session-response',
  'sec-secure-session-id',
  'proof',
  'password',
  'passwordHash',
  'currentPassword',
  'newPassword',
  'accessToken',
  'refreshToken',
  'refresh_token',
  'token',
  'privateKey',
] as const;
const SECRETS: ReadonlySet<string> = new Set(SECRET_NAMES.map((name) => name.toLowerCase()));

const bounded = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

/** The log message of an error that is logged without one. */
export const messageOf = (error: Error): string => {
  const { message, type } = redactError(error);
  return bounded(message ?? type);
};

const hasToJson = (value: object): value is { toJSON(): unknown } =>
  'toJSON' in value && typeof value.toJSON === 'function';

/** A copy for the log: errors redacted, secrets censored, texts truncated. */
export const censored = (value: unknown, depth = 0): unknown => {
  if (typeof value === 'string') return bounded(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return censoredMembers(redactError(value), depth);
  if (depth > MAX_DEPTH) return undefined;
  if (hasToJson(value)) return censored(value.toJSON(), depth + 1);
  if (Array.isArray(value)) return value.map((item) => censored(item, depth + 1));
  return censoredMembers(value, depth);
};

export const censoredMembers = (value: object, depth = 0): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      SECRETS.has(name.toLowerCase()) ? CENSORED : censored(member, depth + 1),
    ]),
  );

import { framesOf } from '../../adapters/redaction/stack-frames.ts';

/** Characters of a text in a line; the rest of a longer one is left out. */
const MAX_TEXT = 4_000;
/** Log lines keep to this: nested deeper, values are left out. */
const MAX_DEPTH = 6;
const MAX_CAUSES = 3;
const CENSORED = '[Redacted]';

/** Members whose values are never logged, at any depth, in any letter case. */
export const SECRET_NAMES = [
  'authorization',
  'cookie',
  'set-cookie',
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

type SafeError = {
  readonly type: string;
  readonly message: string;
  readonly stack: string;
  readonly code?: string | number;
  readonly reason?: string;
  readonly cause?: SafeError;
};

const bounded = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

/** The message, less what a parser quotes of its input: a body that is no JSON may hold a password. */
export const safeMessage = ({ name, message }: Error): string =>
  name === 'SyntaxError' && message.includes('JSON') ? 'invalid JSON' : bounded(message);

/** What of an error may be logged. Its other members stay out: a driver's errors carry statements and their parameters. */
const safeError = (error: Error, causes = MAX_CAUSES): SafeError => {
  const { code, reason } = error as { code?: unknown; reason?: unknown };
  const message = safeMessage(error);
  return {
    type: error.name,
    message,
    stack: `${error.name}: ${message}\n${framesOf(error)}`,
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(typeof reason === 'string' && { reason: bounded(reason) }),
    ...(error.cause instanceof Error && causes > 0 && { cause: safeError(error.cause, causes - 1) }),
  };
};

const hasToJson = (value: object): value is { toJSON(): unknown } =>
  typeof (value as { toJSON?: unknown }).toJSON === 'function';

/** A copy for the log: errors made safe, secrets censored, texts bounded. */
export const censored = (value: unknown, depth = 0): unknown => {
  if (typeof value === 'string') return bounded(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return safeError(value);
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

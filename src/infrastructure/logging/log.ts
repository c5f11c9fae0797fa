import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { hostname } from 'node:os';
import { isatty } from 'node:tty';
import { type DestinationStream, type Logger, type LoggerOptions as PinoOptions, pino, stdTimeFunctions } from 'pino';
import { redactError } from '../../adapters/log/redact-error.ts';
import type { Config } from '../config.ts';
import { printable } from '../texts.ts';
import { REVISION, VERSION } from '../version.ts';
import { boundedDestination } from './bounded-destination.ts';

/** The most characters of a text in a member of a line. Longer texts are truncated. */
const MAX_TEXT = 4_000;
/** The depth of nested objects in a line. Deeper ones are left out, except errors. */
const MAX_DEPTH = 6;
const CENSORED = '[Redacted]';

/** Members whose values are censored, at any depth and in any letter case. (In a child logger's own members: at the top, and in these letter cases.) */
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

const truncate = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

/** A copy of a value for the log, with redacted errors, censored secrets and truncated texts. */
const censor = (value: unknown, depth = 0): unknown => {
  if (typeof value === 'string') return truncate(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return censorMembers(redactError(value), depth);
  if (depth > MAX_DEPTH) return undefined;
  if ('toJSON' in value && typeof value.toJSON === 'function') return censor(value.toJSON(), depth + 1);
  if (Array.isArray(value)) return value.map((item) => censor(item, depth + 1));
  return censorMembers(value, depth);
};

const censorMembers = (value: object, depth = 0): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      SECRETS.has(name.toLowerCase()) ? CENSORED : censor(member, depth + 1),
    ]),
  );

const BUILD = { version: VERSION, ...(REVISION !== null && { revision: REVISION }) };

export type LoggerOptions = {
  readonly level: Config['logLevel'];
  readonly nodeEnv: Config['nodeEnv'];
  readonly destination: DestinationStream;
};

/** If an error is logged without a message, pino would write the error's own message. This hook writes the redacted one instead. */
const withRedactedMessage: NonNullable<PinoOptions['hooks']> = {
  logMethod(args, method) {
    // The types of pino describe only one of the ways to call a method.
    const [first, message]: readonly unknown[] = args;
    const error = first instanceof Error ? first : (first as { readonly err?: unknown } | null | undefined)?.err;
    if (message !== undefined || !(error instanceof Error)) return method.apply(this, args);
    const redacted = redactError(error);
    method.call(this, first, truncate(redacted.message ?? redacted.type));
  },
};

/**
 * A logger that writes JSON lines with a time in ISO 8601. Callers must not pass secrets to it. As a second line of defence, it censors members with a
 * name in `SECRET_NAMES`, and redacts errors.
 * @param mixin returns members for every line, such as the id of the request. Members that a call passes itself take precedence.
 */
export const createLogger = (options: LoggerOptions, mixin = (): object => ({})): Logger => {
  const { level, nodeEnv } = options;
  return pino(
    {
      level,
      base: { pid: process.pid, hostname: hostname(), environment: nodeEnv, ...BUILD },
      timestamp: stdTimeFunctions.isoTime,
      mixin,
      // The default strategy of pino would change the object that `mixin` has returned.
      mixinMergeStrategy: (own, mixed) => ({ ...mixed, ...own }),
      formatters: { level: (label) => ({ level: label }), log: censorMembers },
      // `formatters.log` does not apply to the bindings of a child logger; `serializers` and `redact` do.
      serializers: { err: (value) => censor(value) },
      redact: SECRET_NAMES.map((name) => `["${name}"]`),
      hooks: withRedactedMessage,
    },
    options.destination,
  );
};

/** As `printable`, but keeps line breaks, since stacks have them. */
const makePrintable = (_name: string, value: unknown): unknown =>
  typeof value === 'string' ? value.split('\n').map(printable).join('\n') : value;

/** Formats lines of the log for a developer's terminal. pino-pretty is loaded only here. */
export const terminalText = async (): Promise<(line: string) => string> => {
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,hostname,environment,version,revision',
    singleLine: true,
  });
  return (line) => pretty(JSON.stringify(JSON.parse(line), makePrintable));
};

export type Log = Awaited<ReturnType<typeof openLog>>;

/** The log of the process, on standard output or standard error (ADR 0018). */
export const openLog = async (
  { logLevel: level, nodeEnv }: Pick<Config, 'logLevel' | 'nodeEnv'>,
  stream: 'stdout' | 'stderr',
  mixin?: () => object,
) => {
  const fd = unblockedStream(stream);
  const { write, lostLines, onRecovery, close } = boundedDestination(fd);
  // Only a developer's terminal gets text instead of JSON lines.
  const toText = nodeEnv === 'development' && stream === 'stdout' && isatty(fd) ? await terminalText() : null;
  const destination = { write: toText === null ? write : (line: string) => write(toText(line)) };
  const logger = createLogger({ level, nodeEnv, destination }, mixin);
  onRecovery((lines) => logger.warn({ lines }, 'log lines were lost'));
  return { logger, lostLines, close };
};

const STREAMS = { stdout: 1, stderr: 2 } as const;

/** A file descriptor of standard output or standard error to which a write does not wait for a reader, unless it is a terminal that cannot be reopened. */
const unblockedStream = (name: keyof typeof STREAMS): number => {
  const fd = STREAMS[name];
  if (isatty(fd)) return reopenTerminal(name) ?? fd;
  const kind = fstatSync(fd);
  // Reading the property opens the stream of a pipe or a socket, by which Node.js makes it non-blocking, until the process ends.
  if (kind.isFIFO() || kind.isSocket()) void process[name];
  return fd;
};

/** Opens the terminal again, without blocking writes: a write must not wait while Ctrl-S stops the terminal. Writes of other programs still wait. */
const reopenTerminal = (name: string): number | undefined => {
  try {
    const fd = openSync(`/dev/${name}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    if (isatty(fd)) return fd;
    closeSync(fd);
  } catch {
    // For instance, the terminal belongs to another user, or there is no such path.
  }
  return undefined;
};

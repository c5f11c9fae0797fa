import { hostname } from 'node:os';
import { type DestinationStream, type Logger, type LoggerOptions as PinoOptions, pino, stdTimeFunctions } from 'pino';
import type { Config } from '../config.ts';
import { printable } from '../printable.ts';
import { REVISION, VERSION } from '../version.ts';
import { censored, censoredMembers, messageOf, SECRET_NAMES } from './log-safety.ts';

const BUILD = { version: VERSION, ...(REVISION !== null && { revision: REVISION }) };

export type LoggerOptions = {
  readonly level: Config['logLevel'];
  readonly environment: Config['environment'];
  readonly destination: DestinationStream;
};

/** pino uses an error's own message for an error that is logged without one; this hook replaces it. */
const withRedactedMessage: NonNullable<PinoOptions['hooks']> = {
  logMethod(args, method) {
    // pino's types describe the arguments of a single overload.
    const [first, message]: readonly unknown[] = args;
    const error = first instanceof Error ? first : (first as { readonly err?: unknown } | null | undefined)?.err;
    if (message === undefined && error instanceof Error) method.call(this, first, messageOf(error));
    else method.apply(this, args);
  },
};

/**
 * A logger that writes JSON lines with an ISO 8601 time. As a second line of defense, it censors members that are named like secrets, and
 * reduces errors to what is safe to log. Callers must not pass secrets to it.
 * @param mixin returns members for every line, such as the request's id. A line's own members override them.
 */
export const createLogger = (options: LoggerOptions, mixin = (): object => ({})): Logger => {
  const { level, environment } = options;
  return pino(
    {
      level,
      base: { pid: process.pid, hostname: hostname(), environment, ...BUILD },
      timestamp: stdTimeFunctions.isoTime,
      mixin,
      // pino's default strategy would change the object that the mixin returned.
      mixinMergeStrategy: (own, mixed) => ({ ...mixed, ...own }),
      formatters: { level: (label) => ({ level: label }), log: censoredMembers },
      // `formatters.log` does not apply to the bindings of a child logger; these two do.
      serializers: { err: (value) => censored(value) },
      redact: SECRET_NAMES.map((name) => `["${name}"]`),
      hooks: withRedactedMessage,
    },
    options.destination,
  );
};

/** Keeps line breaks, for stacks, but no other characters that a terminal may take for commands. */
const shown = (_name: string, value: unknown): unknown =>
  typeof value === 'string' ? value.split('\n').map(printable).join('\n') : value;

/**
 * Makes a line of the log text for a developer's terminal. Its library is imported when it is used.
 */
export const terminalText = async (): Promise<(line: string) => string> => {
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,hostname,environment,version,revision',
    singleLine: true,
  });
  return (line) => pretty(JSON.stringify(JSON.parse(line), shown));
};

import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { type DestinationStream, type Logger, type LoggerOptions as PinoOptions, pino, stdTimeFunctions } from 'pino';
import type { Config } from '../config.ts';
import { censored, censoredMembers, messageOf, SECRET_NAMES } from './log-safety.ts';

export type LoggerOptions = {
  readonly level: Config['logLevel'];
  readonly environment: Config['environment'];
  readonly version: string;
  /** Standard output by default. */
  readonly destination?: DestinationStream;
  /** For a reader at a terminal; obeyed in development alone, and where pino-pretty is installed. */
  readonly pretty?: boolean | undefined;
};

/** pino uses an error's own message for an error that is logged without one; this hook replaces it. */
const withRedactedMessage: NonNullable<PinoOptions['hooks']> = {
  logMethod(args, method) {
    const [first, message]: readonly unknown[] = args;
    const error = first instanceof Error ? first : (first as { err?: unknown } | null | undefined)?.err;
    if (message === undefined && error instanceof Error) method.call(this, first as object, messageOf(error));
    else method.apply(this, args);
  },
};

/** Makes of a JSON line what is easy to read; `null` where pino-pretty, a development dependency, is not installed. */
const prettyFormat = (colorize: boolean): ((line: string) => string) | null => {
  const require = createRequire(import.meta.url);
  try {
    const { prettyFactory }: typeof import('pino-pretty') = require('pino-pretty');
    return prettyFactory({ colorize });
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
};

const outputOf = ({ destination, pretty, environment }: LoggerOptions): DestinationStream => {
  const output = destination ?? pino.destination(1);
  const format = pretty === true && environment === 'development' ? prettyFormat(destination === undefined) : null;
  return format === null ? output : { write: (line) => output.write(format(line)) };
};

/**
 * Logs JSON lines with an ISO 8601 time, or prettily. Secrets are censored and errors reduced to what is safe; whoever logs
 * should not hand them over in the first place.
 * @param mixin members that every line gets, such as the request's id; a line's own go before them.
 */
export const createLogger = (options: LoggerOptions, mixin: () => object): Logger => {
  const { level, environment, version } = options;
  return pino(
    {
      level,
      base: { pid: process.pid, hostname: hostname(), environment, version },
      timestamp: stdTimeFunctions.isoTime,
      mixin,
      // pino's own merges into the object that the mixin gave, which is shared.
      mixinMergeStrategy: (own, mixed) => ({ ...mixed, ...own }),
      formatters: { level: (label) => ({ level: label }), log: censoredMembers },
      // The formatter does not see a child's bindings; these two do.
      serializers: { err: (value) => censored(value) },
      redact: SECRET_NAMES.map((name) => `["${name}"]`),
      hooks: withRedactedMessage,
    },
    outputOf(options),
  );
};

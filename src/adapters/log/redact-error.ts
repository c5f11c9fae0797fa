import { AppError } from '../../domain/errors/app-error.ts';

/** An error whose message is logged. So the message must not quote a value that a client has sent or the service stores. */
export class LoggableError extends Error {}

/** Messages of drivers that quote no value, and may be logged. */
const DRIVER_MESSAGES: ReadonlySet<string> = new Set([
  // node-postgres, and its pool
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error and is not queryable',
  'The server does not support SSL connections',
  'There was an error establishing an SSL connection',
  'Cannot use a pool after calling end on the pool',
  // Kysely
  'driver has already been destroyed',
  // ioredis
  'Command timed out',
  'Connection is closed.',
  "Socket timeout. Expecting data, but didn't receive any in 5000ms.",
  "Stream isn't writeable and enableOfflineQueue options is false",
  "Cluster isn't ready and enableOfflineQueue options is false",
]);

const ENGINE_TYPES: ReadonlySet<unknown> = new Set(['TypeError', 'RangeError', 'ReferenceError']);
/** Messages of V8 that quote at most the name of a variable or a member. Others may quote values: `Cannot create property 'a' on string 'secret'`. */
const ENGINE_MESSAGE =
  /^(?:[\w$.]{1,100} is not (?:a function|a constructor|defined|iterable)|Cannot (?:read|set) properties of (?:undefined|null) \((?:reading|setting) '\w{1,50}'\)|Maximum call stack size exceeded|Invalid time value)$/;

/** The code at the start of an error reply of Redis, such as OOM, LOADING or READONLY. */
const REDIS_CODE = /^[A-Z]{2,32}(?= )/;

const MAX_FRAMES = 20;

/** A stack frame in the exact format of V8, since a line of the message may resemble a frame. */
const STACK_FRAME =
  /^ {4}at (?:async )?(?:[\w$.<>#[\] ]{1,120} \()?(?:(?:file:\/\/|node:|\/|[A-Za-z]:\\)[^\s()]{1,250}:\d{1,7}:\d{1,7}|<anonymous>|native|index \d{1,7})\)?$/;

/** The first 20 frames of an error's stack, without the message; an empty text if there is no stack. */
export const framesOf = (error: unknown): string => {
  const stack: unknown = error instanceof Error ? error.stack : undefined;
  if (typeof stack !== 'string') return '';
  return stack
    .split('\n')
    .filter((line) => STACK_FRAME.test(line))
    .slice(0, MAX_FRAMES)
    .join('\n');
};

/** Adds the stack frames of an error to the error that replaces it. */
export const withFramesOf = <Replacement extends Error>(foreign: unknown, replacement: Replacement): Replacement => {
  replacement.stack = `${replacement.stack}\n${framesOf(foreign)}`;
  return replacement;
};

/** The parts of an error that may be logged. Its other members are left out, since drivers put statements and their parameters there. */
export type RedactedError = {
  readonly type: string;
  readonly message?: string;
  readonly reason?: string;
  readonly code?: string | number;
  readonly stack?: string;
  readonly cause?: RedactedError;
};

/** A code, or the name of a type, a table, a constraint or a function. */
const CODE_OR_NAME = /^[A-Za-z_][\w$]{0,62}$|^[0-9A-Z]{5}$/;
/** The `type` of an error of the body parser, such as `entity.too.large`. */
const BODY_PARSER_TYPE = /^[a-z]{1,20}(?:\.[a-z]{1,20}){1,4}$/;
/** Members of an error of PostgreSQL that have the name of a table, a constraint, or a function of PostgreSQL's source. */
const NAMING_FIELDS = ['table', 'constraint', 'routine'];
const MAX_CAUSES = 3;

/** The loggable parts of any thrown value. Never throws. @param causes how many causes in a chain are included */
export const redactError = (error: unknown, causes = MAX_CAUSES): RedactedError => {
  try {
    return error instanceof Error ? loggableParts(error, causes) : { type: typeof error };
  } catch {
    // A getter or a proxy of the thrown value has thrown.
    return { type: 'unreadable' };
  }
};

/** The loggable parts of a thrown value in one line, without frames and causes. Never throws. */
export const reasonOf = (error: unknown): string => {
  try {
    if (typeof error !== 'object' || error === null) return '';
    const message = loggableMessage(error);
    const words = [
      memberMatching(error, 'name', CODE_OR_NAME),
      codeOf(error),
      memberMatching(error, 'type', BODY_PARSER_TYPE),
      ...NAMING_FIELDS.map((field) => memberMatching(error, field, CODE_OR_NAME)),
      message && `(${message})`,
    ];
    return words.filter((word) => word !== undefined).join(' ');
  } catch {
    return '';
  }
};

const loggableParts = (error: Error, causes: number): RedactedError => {
  const { cause } = error;
  const code = codeOf(error);
  const message = error instanceof AppError ? error.message : loggableMessage(error);
  return {
    type: memberMatching(error, 'name', CODE_OR_NAME) ?? 'Error',
    ...(message !== undefined && { message }),
    ...(error instanceof AppError && error.reason !== undefined && { reason: error.reason }),
    ...(code !== undefined && { code }),
    stack: framesOf(error),
    ...(cause !== undefined && causes > 0 && { cause: redactError(cause, causes - 1) }),
  };
};

const memberMatching = (error: object, field: string, pattern: RegExp): string | undefined => {
  const value: unknown = Reflect.get(error, field);
  return typeof value === 'string' && pattern.test(value) ? value : undefined;
};

const codeOf = (error: object): string | number | undefined => {
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code === 'number') return code;
  if (Reflect.get(error, 'name') !== 'ReplyError') return memberMatching(error, 'code', CODE_OR_NAME);
  return memberMatching(error, 'code', CODE_OR_NAME) ?? REDIS_CODE.exec(String(Reflect.get(error, 'message')))?.[0];
};

const loggableMessage = (error: object): string | undefined => {
  const message: unknown = Reflect.get(error, 'message');
  if (typeof message !== 'string') return undefined;
  const isOfEngine = ENGINE_TYPES.has(Reflect.get(error, 'name')) && ENGINE_MESSAGE.test(message);
  return error instanceof LoggableError || isOfEngine || DRIVER_MESSAGES.has(message) ? message : undefined;
};

/** The message of an error of the system. It may name paths, so it is for operators, and not for clients. */
export const systemReason = (error: unknown): string => (error instanceof Error ? error.message : 'unknown');

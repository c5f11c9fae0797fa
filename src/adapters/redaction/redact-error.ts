import { AppError } from '../../domain/errors/app-error.ts';
import { redisCode, safeMessage } from './safe-messages.ts';
import { framesOf } from './stack-frames.ts';

/** What the log may contain of an error. Its other members stay out: drivers put statements and their parameters there. */
export type RedactedError = {
  readonly type: string;
  /** The whole message of an AppError; of a foreign error only a message that is known to quote no value. */
  readonly message?: string;
  /** Of an AppError. */
  readonly reason?: string;
  readonly code?: string | number;
  /** Frames without the message. */
  readonly stack?: string;
  readonly cause?: RedactedError;
};

/** The name of a type, a table, a constraint or a function, or a code: never a value that was sent or stored. */
const NAME = /^[A-Za-z_][\w$]{0,62}$|^[0-9A-Z]{5}$/;
/** The `type` of an error of the body parser: `entity.too.large`. */
const DOTTED = /^[a-z]{1,20}(?:\.[a-z]{1,20}){1,4}$/;
/** Fields in which PostgreSQL names what an error is about. */
const NAMING_FIELDS = ['table', 'constraint', 'routine'];
const MAX_CAUSES = 3;

/**
 * An error for the log: type, code, frames and causes. Accepts whatever was thrown, and never throws itself.
 * @param causes how many causes of causes are included.
 */
export const redactError = (error: unknown, causes = MAX_CAUSES): RedactedError => {
  try {
    return error instanceof Error ? described(error, causes) : { type: typeof error };
  } catch {
    // One of its getters throws, or it is a proxy that does.
    return { type: 'unreadable' };
  }
};

/** The same in one line without frames and causes, for the `reason` of the error that replaces it. Empty if nothing is safe. */
export const reasonOf = (error: unknown): string => {
  try {
    if (typeof error !== 'object' || error === null) return '';
    const names = NAMING_FIELDS.map((field) => wordIn(error, field, NAME));
    const message = messageIn(error);
    const words = [
      wordIn(error, 'name', NAME),
      codeIn(error),
      wordIn(error, 'type', DOTTED),
      ...names,
      message && `(${message})`,
    ];
    return words.filter((word) => word !== undefined).join(' ');
  } catch {
    return '';
  }
};

const described = (error: Error, causes: number): RedactedError => {
  const { cause } = error;
  const code = codeIn(error);
  const message = error instanceof AppError ? error.message : messageIn(error);
  return {
    type: wordIn(error, 'name', NAME) ?? 'Error',
    ...(message !== undefined && { message }),
    ...(error instanceof AppError && error.reason !== undefined && { reason: error.reason }),
    ...(code !== undefined && { code }),
    stack: framesOf(error),
    ...(cause !== undefined && causes > 0 && { cause: redactError(cause, causes - 1) }),
  };
};

const wordIn = (error: object, field: string, form: RegExp): string | undefined => {
  const value: unknown = Reflect.get(error, field);
  return typeof value === 'string' && form.test(value) ? value : undefined;
};

const codeIn = (error: object): string | number | undefined => {
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'number' ? code : (wordIn(error, 'code', NAME) ?? redisCode(namedIn(error)));
};

const messageIn = (error: object): string | undefined => safeMessage(namedIn(error));

const namedIn = (error: object): { name: unknown; message: unknown } => ({
  name: Reflect.get(error, 'name'),
  message: Reflect.get(error, 'message'),
});

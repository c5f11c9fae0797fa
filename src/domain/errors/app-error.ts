import type { MissingStepUp } from '../assurance.ts';
import { CATALOG, type CatalogEntry, type ErrorCode, type ErrorLevel, type OwnErrorCode } from './catalog.ts';

/** The codes of invalid fields (docs/errors.md), each with the name of its limit in translated messages, which take it from the first number of `message`. */
export const FIELD_CODES = {
  required: null,
  invalid_type: null,
  invalid_value: null,
  invalid_format: null,
  invalid_characters: null,
  too_short: 'min',
  too_long: 'max',
  too_small: 'min',
  too_large: 'max',
  too_common: null,
  leaked: null,
  unknown: null,
  malformed: null,
} as const;
export type FieldCode = keyof typeof FIELD_CODES;

export type FieldProblem = {
  /** The path of the field, with dots. */
  readonly field: string;
  readonly message: string;
  readonly code: FieldCode;
};

export type AppErrorOptions = {
  readonly details?: readonly FieldProblem[];
  /** Logged, never sent to the client. Contains no secret. */
  readonly reason?: string;
  readonly level?: ErrorLevel;
  /** Overrides the catalog's status. SYS_HTTP_UNEXPECTED_ERROR stands for several. */
  readonly status?: number;
  /** Overrides the catalog's message. Sent to the client. */
  readonly message?: string;
  /** A message that a hook has written. Pages show it, and the log leaves it out. All other messages are in English, for developers. */
  readonly hookMessage?: string | undefined;
  /** Whole seconds after which a client may try again. */
  readonly retryAfter?: number;
  readonly stepUp?: MissingStepUp;
  readonly cause?: unknown;
};

type DomainOf<Code> = Code extends `${infer Domain}_${string}` ? Domain : never;
/** Rejects a code in a domain of the catalog (such as AUTH) that the catalog lacks: misspelt, it would otherwise count as a code of an application. */
type ValidCode<Code> = Code extends ErrorCode ? Code : Code extends `${DomainOf<ErrorCode>}_${string}` ? never : Code;

/** The entry of an application's own code until `declaredAs` replaces it by the entry that the route declares. */
const UNDECLARED_ENTRY = { status: 500, level: 'error', message: '' } as const;
const entryOf = (code: string): Pick<CatalogEntry, 'status' | 'level' | 'message'> =>
  Object.hasOwn(CATALOG, code) ? CATALOG[code as ErrorCode] : UNDECLARED_ENTRY;

/**
 * An error with a code of the catalog, or of the route's own `errors`, and with the details of this case.
 *
 * @example
 * throw new AppError('DB_QUERY_FAILED', { reason: 'the store does not respond' });
 */
export class AppError<const Code extends ErrorCode | OwnErrorCode = ErrorCode> extends Error {
  override readonly name = 'AppError';
  readonly code: Code;
  readonly status: number;
  readonly level: ErrorLevel;
  /** `message`, or the message of the catalog if a hook has written `message`. */
  readonly logMessage: string;
  readonly details: readonly FieldProblem[] | null;
  readonly reason: string | undefined;
  readonly retryAfter: number | undefined;
  readonly hookMessage: string | undefined;
  readonly stepUp: MissingStepUp | undefined;
  readonly #options: AppErrorOptions;

  constructor(code: Code & ValidCode<Code>, options: AppErrorOptions = {}, entry = entryOf(code)) {
    const { details, reason, level, status, message, hookMessage, retryAfter, stepUp, cause } = options;
    super(hookMessage ?? message ?? entry.message, { cause });
    this.code = code;
    this.status = status ?? entry.status;
    this.level = level ?? entry.level;
    this.logMessage = hookMessage === undefined ? this.message : entry.message;
    this.details = details ?? null;
    this.reason = reason;
    this.retryAfter = retryAfter;
    this.hookMessage = hookMessage;
    this.stepUp = stepUp;
    this.#options = options;
  }

  /** The same error with the entry that its route declares for the code. */
  declaredAs(entry: CatalogEntry): AppError<Code> {
    const declared = new AppError<Code>(this.code as Code & ValidCode<Code>, this.#options, entry);
    return Object.assign(declared, { stack: this.stack });
  }
}

export const invalidField = (problem: FieldProblem): AppError =>
  new AppError('CLIENT_PARAMS_VALIDATION_FAILED', { details: [problem] });

const TAKEN_MESSAGES = { username: 'This username is taken.', email: 'This email is already registered.' } as const;

export const duplicateUser = (taken: keyof typeof TAKEN_MESSAGES, reason?: string): AppError =>
  new AppError('AUTH_USER_DUPLICATE', { message: TAKEN_MESSAGES[taken], ...(reason !== undefined && { reason }) });

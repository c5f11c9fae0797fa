import type { MissingStepUp } from '../assurance.ts';
import { CATALOG, type CatalogEntry, type ErrorCode, type ErrorLevel, type OwnErrorCode } from './catalog.ts';

/**
 * The codes of problems with a field, and the name of the number that a translation of each needs. docs/errors.md explains them. SPEC
 * fixes the members of a detail, so the number is the first one in its message.
 */
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
  /** Dotted path. */
  readonly field: string;
  /** For people. Its first number is the limit that the value exceeds. */
  readonly message: string;
  readonly code: FieldCode;
};

export type AppErrorOptions = {
  readonly details?: readonly FieldProblem[];
  /** Logged, never sent to the client. Contains no secret. */
  readonly reason?: string;
  readonly level?: ErrorLevel;
  /** Overrides the catalog's status: SYS_HTTP_UNEXPECTED_ERROR keeps the original one. */
  readonly status?: number;
  /** Overrides the catalog's message. Sent to the client. */
  readonly message?: string;
  /** The message in the words of a hook: pages show it, and it is not logged. Any other message is English and for developers. */
  readonly hookMessage?: string | undefined;
  /** Whole seconds after which a client may try again. */
  readonly retryAfter?: number;
  readonly stepUp?: MissingStepUp;
  readonly cause?: unknown;
};

type DomainOf<Code> = Code extends `${infer Domain}_${string}` ? Domain : never;
/** Finds misspelt codes of the catalog, which could otherwise pass for those of an application. */
type Known<Code> = Code extends ErrorCode ? Code : Code extends `${DomainOf<ErrorCode>}_${string}` ? never : Code;

/** Of an application's code, until the route that declares it is known. */
const UNDECLARED = { status: 500, level: 'error', message: '' } as const;
const entryOf = (code: string): Pick<CatalogEntry, 'status' | 'level' | 'message'> =>
  Object.hasOwn(CATALOG, code) ? CATALOG[code as ErrorCode] : UNDECLARED;

/**
 * The error that application code throws: a code of the catalog, or of the route's own `errors`, and details of this case.
 *
 * @example
 * throw new AppError('DB_QUERY_FAILED', { reason: 'the store does not respond' });
 */
export class AppError<const Code extends ErrorCode | OwnErrorCode = ErrorCode> extends Error {
  override readonly name = 'AppError';
  readonly code: Code;
  readonly status: number;
  readonly level: ErrorLevel;
  /** `message`, or that of the catalog in place of the text of a hook. */
  readonly logMessage: string;
  readonly details: readonly FieldProblem[] | null;
  readonly reason: string | undefined;
  readonly retryAfter: number | undefined;
  readonly hookMessage: string | undefined;
  readonly stepUp: MissingStepUp | undefined;
  readonly #options: AppErrorOptions;

  constructor(code: Code & Known<Code>, options: AppErrorOptions = {}, entry = entryOf(code)) {
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

  /** The same error, with what the route that declares its code says about it. */
  declaredAs(entry: CatalogEntry): AppError<Code> {
    const declared = new AppError<Code>(this.code as Code & Known<Code>, this.#options, entry);
    return Object.assign(declared, { stack: this.stack });
  }
}

const TAKEN = { username: 'This username is taken.', email: 'This email is already registered.' } as const;

/** AUTH_USER_DUPLICATE whose message names what is taken. */
export const duplicateUser = (taken: keyof typeof TAKEN, reason?: string): AppError =>
  new AppError('AUTH_USER_DUPLICATE', { message: TAKEN[taken], ...(reason !== undefined && { reason }) });

import type { ErrorCode, ErrorLevel } from './catalog.ts';
import { CATALOG } from './catalog.ts';

/** One thing that is wrong with one field of a request. SPEC "Error envelope", `details`. */
export type FieldProblem = {
  /** Dotted path. */
  readonly field: string;
  readonly message: string;
  /** A stable word. */
  readonly code: string;
};

type AppErrorOptions = {
  readonly details?: readonly FieldProblem[];
  /** For the log alone; holds no secret. */
  readonly reason?: string;
  /** Where this occurrence deserves another loudness than its row of the catalog. */
  readonly level?: ErrorLevel;
  /** Where the status is known at run time alone: SYS_HTTP_UNEXPECTED_ERROR keeps the original one. */
  readonly status?: number;
  /** Where this occurrence can say more than its row of the catalog; the client reads it. */
  readonly message?: string;
  /** Header fields of the answer, such as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
};

/** The one error that application code throws: a code of the catalog and what this occurrence adds to it. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly level: ErrorLevel;
  readonly details: readonly FieldProblem[] | null;
  readonly reason: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, { details, reason, level, status, message, headers, cause }: AppErrorOptions = {}) {
    super(message ?? CATALOG[code].message, { cause });
    this.code = code;
    this.status = status ?? CATALOG[code].status;
    this.level = level ?? CATALOG[code].level;
    this.details = details ?? null;
    this.reason = reason;
    this.headers = headers ?? {};
  }
}

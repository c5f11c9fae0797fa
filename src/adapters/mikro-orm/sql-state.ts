/** A field of any thrown value. */
export const field = (error: unknown, name: string): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;

/** SQLSTATE of a driver's error (PostgreSQL manual, appendix A). */
const sqlState = (error: unknown): unknown => field(error, 'code');

/** serialization_failure and deadlock_detected: another transaction was in the way, and may be gone. */
const CONFLICTS: ReadonlySet<unknown> = new Set(['40001', '40P01']);
const QUERY_CANCELED = '57014';

/** Whether PostgreSQL rolled the statement back because of a concurrent one, so that it may be sent again. */
export const isConflict = (error: unknown): boolean => CONFLICTS.has(sqlState(error));

/**
 * Whether PostgreSQL certainly rolled the statement back. Only what the server reports about the statement proves that: after a lost
 * connection it may have been executed.
 */
export const isRolledBack = (error: unknown): boolean => isConflict(error) || sqlState(error) === QUERY_CANCELED;

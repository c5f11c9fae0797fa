import type { Logger } from 'pino';
import type { AccountEvent } from '../../domain/event.ts';

/** The message of every line about an event of an account. */
const AUDIT_MESSAGE = 'account event';

/** Writes a line for each event (ADR 0051): `warn` for a replayed token, else `info`. */
export const auditLog =
  (logger: Logger) =>
  (events: readonly AccountEvent[]): void => {
    for (const event of events)
      logger[event.reason === 'token-replayed' ? 'warn' : 'info'](lineOf(event), AUDIT_MESSAGE);
  };

/** Without the user agent: the request's own line has it, and anybody can choose it. */
const lineOf = ({ kind, userId, sessionId, reason, count, requestId, address }: AccountEvent) => ({
  kind,
  userId,
  ...(sessionId !== null && { sessionId }),
  ...(reason !== null && { reason }),
  ...(kind === 'login-refused' && { count }),
  ...(requestId !== null && { requestId }),
  ...(address !== null && { address }),
});

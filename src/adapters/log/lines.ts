import type { Logger } from 'pino';
import type { AccountEvent } from '../../domain/event.ts';

/** The log messages of the first failure, and of the first success after it. */
export type OutageMessages = { readonly unavailable: string; readonly available: string };

/** Logs when something stops working, and when it works again. */
export const outageLog = (logger: Pick<Logger, 'info' | 'warn'>, messages: OutageMessages) => {
  let isOut = false;
  return {
    /** @param details more members of the line. */
    failed(error: unknown, details: object = {}): void {
      if (!isOut) logger.warn({ ...details, err: error }, messages.unavailable);
      isOut = true;
    },
    succeeded(details: object = {}): void {
      if (isOut) logger.info(details, messages.available);
      isOut = false;
    },
    isOut: (): boolean => isOut,
  };
};

/**
 * Writes a line for each event (ADR 0011): `warn` for a replayed token, else `info`. None for a session that has expired: nobody did anything, and
 * the purge says how many there were.
 */
export const auditLog =
  (logger: Logger, onEvent?: (event: AccountEvent) => void) =>
  (events: readonly AccountEvent[]): void => {
    for (const event of events) {
      if (event.reason !== 'expired')
        logger[event.reason === 'token-replayed' ? 'warn' : 'info'](lineOf(event), 'account event');
      onEvent?.(event);
    }
  };

/** Without the user agent, which any client can choose. With the time of what an operator did: it is logged up to a minute later. */
const lineOf = ({ kind, userId, at, sessionId, reason, note, count, requestId, address, actor }: AccountEvent) => ({
  kind,
  userId,
  ...(sessionId !== null && { sessionId }),
  ...(reason !== null && { reason }),
  ...(note !== null && { note }),
  ...(kind === 'login-refused' && { count }),
  ...(requestId !== null && { requestId }),
  ...(address !== null && { address }),
  ...(actor !== null && { actor, at: new Date(at).toISOString() }),
});

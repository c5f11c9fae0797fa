import type { Logger } from 'pino';
import type { AccountEvent } from '../../domain/event.ts';

export type OutageMessages = { readonly unavailable: string; readonly available: string };

/** Logs the beginning and the end of an outage: its first failure, and the first success afterwards. */
export const outageLog = (logger: Pick<Logger, 'info' | 'warn'>, messages: OutageMessages) => {
  let isOut = false;
  return {
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

/** Passes each event to the observers, and logs it (ADR 0011), unless a session has expired: the purge logs how many have. */
export const auditLog =
  (logger: Logger, observers: readonly ((event: AccountEvent) => void)[] = []) =>
  (events: readonly AccountEvent[]): void => {
    for (const event of events) {
      if (event.reason !== 'expired')
        logger[event.reason === 'token-replayed' ? 'warn' : 'info'](lineOf(event), 'account event');
      for (const observe of observers) observe(event);
    }
  };

/** The line has no user agent, since clients choose that text. It has a time only for acts of operators, which are logged later. */
const lineOf = (event: AccountEvent) => {
  const { kind, userId, sessionId, reason, note, requestId, address, actor } = event;
  const count = kind === 'login-refused' ? event.count : null;
  const at = actor === null ? null : new Date(event.at).toISOString();
  const line = { kind, userId, sessionId, reason, note, count, requestId, address, actor, at };
  return Object.fromEntries(Object.entries(line).filter(([, value]) => value !== null));
};

import type { Logger } from 'pino';

/** Log messages, for the first failure and for the first success after it. */
export type OutageMessages = { readonly unavailable: string; readonly available: string };

/** Logs when something stops to work, and when it works again. */
export const outageLog = (logger: Pick<Logger, 'info' | 'warn'>, messages: OutageMessages) => {
  let isOut = false;
  return {
    /** @param details more members of the line. */
    failed(error: unknown, details: object = {}): void {
      if (!isOut) logger.warn({ ...details, err: error }, messages.unavailable);
      isOut = true;
    },
    succeeded(): void {
      if (isOut) logger.info(messages.available);
      isOut = false;
    },
    isOut: (): boolean => isOut,
  };
};

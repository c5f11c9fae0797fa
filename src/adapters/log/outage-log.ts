import type { Logger } from 'pino';

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

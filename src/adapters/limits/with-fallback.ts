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
    succeeded(): void {
      if (isOut) logger.info(messages.available);
      isOut = false;
    },
    isOut: (): boolean => isOut,
  };
};

/** Milliseconds without calls after a failure, so that a store that hangs delays few requests. */
const PAUSE = 1_000;

/**
 * Calls a store that all instances share, or a fallback while it is unavailable. Logs each change once.
 * @param onFallback called for each call of the fallback.
 */
export const withFallback = (logger: Logger, messages: OutageMessages, onFallback = () => {}) => {
  const outage = outageLog(logger, messages);
  let pausedUntil = 0;
  const instead = <Result>(fallback: () => Promise<Result>): Promise<Result> => {
    onFallback();
    return fallback();
  };
  return {
    /**
     * The result of the store, or that of the fallback while the store is unavailable.
     * @param isResult whether a rejection is a result of the store rather than a failure; it is passed to the caller.
     */
    call: async <Result>(
      store: () => Promise<Result>,
      fallback: () => Promise<Result>,
      isResult: (error: unknown) => boolean = () => false,
    ): Promise<Result> => {
      if (performance.now() < pausedUntil) return instead(fallback);
      try {
        const result = await store();
        outage.succeeded();
        return result;
      } catch (error) {
        if (isResult(error)) {
          outage.succeeded();
          throw error;
        }
        outage.failed(error);
        pausedUntil = performance.now() + PAUSE;
        return instead(fallback);
      }
    },
    isUnavailable: outage.isOut,
  };
};

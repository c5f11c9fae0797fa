import type { Logger } from 'pino';
import { type OutageMessages, outageLog } from './outage-log.ts';

/** Milliseconds for which a store that failed is not called again, so that a frozen one delays few requests. */
const PAUSE = 1_000;

/** Calls a store that all instances share, or a fallback while it is unavailable. Logs each change once. */
export const withFallback = (logger: Logger, messages: OutageMessages) => {
  const outage = outageLog(logger, messages);
  let pausedUntil = 0;
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
      if (performance.now() < pausedUntil) return fallback();
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
        return fallback();
      }
    },
    isUnavailable: outage.isOut,
  };
};

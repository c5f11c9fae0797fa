import type { Logger } from 'pino';

/** Milliseconds for which a store that failed is not called again, so that a frozen one delays few requests. */
const PAUSE = 1_000;

/** Log messages, for the first call that fails and the first that succeeds again. */
type Messages = { readonly unavailable: string; readonly available: string };

/** Calls a store that all instances share, or a fallback while it is unavailable. Logs each change once. */
export const withFallback = (logger: Logger, messages: Messages) => {
  let pausedUntil = 0;
  let isUnavailable = false;
  const recordSuccess = (): void => {
    if (isUnavailable) logger.info(messages.available);
    isUnavailable = false;
  };
  const recordFailure = (error: unknown): void => {
    if (!isUnavailable) logger.warn({ err: error }, messages.unavailable);
    isUnavailable = true;
    pausedUntil = performance.now() + PAUSE;
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
      if (performance.now() < pausedUntil) return fallback();
      try {
        const result = await store();
        recordSuccess();
        return result;
      } catch (error) {
        if (isResult(error)) {
          recordSuccess();
          throw error;
        }
        recordFailure(error);
        return fallback();
      }
    },
    isUnavailable: (): boolean => isUnavailable,
  };
};

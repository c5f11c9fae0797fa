import type { Logger } from 'pino';

/** Milliseconds for which a store that failed is not called again, so that a frozen one delays few requests. */
const PAUSE = 1_000;

type Messages = { readonly away: string; readonly back: string };

/** Calls a store that all instances share, or a fallback while it is unavailable. Logs each change once. */
export const withFallback = (logger: Logger, { away, back }: Messages) => {
  let pausedUntil = 0;
  let isAway = false;
  const answered = (): void => {
    if (isAway) logger.info(back);
    isAway = false;
  };
  const failed = (error: unknown): void => {
    if (!isAway) logger.warn({ err: error }, away);
    isAway = true;
    pausedUntil = performance.now() + PAUSE;
  };
  return {
    /**
     * The result of the store, or that of `without` while the store is unavailable.
     * @param isAnswer whether a rejection is a result of the store and no fault; the caller gets it.
     */
    ask: async <Answer>(
      store: () => Promise<Answer>,
      without: () => Promise<Answer>,
      isAnswer: (error: unknown) => boolean = () => false,
    ): Promise<Answer> => {
      if (performance.now() < pausedUntil) return without();
      try {
        const answer = await store();
        answered();
        return answer;
      } catch (error) {
        if (isAnswer(error)) {
          answered();
          throw error;
        }
        failed(error);
        return without();
      }
    },
    isAway: (): boolean => isAway,
  };
};

import type { Logger } from 'pino';

/** Milliseconds during which a store that failed is not asked again, so that a frozen one delays little. */
const PAUSE = 1000;

type Words = { readonly away: string; readonly back: string };

/** Follows whether a store that all instances share can be had, and logs each change once. */
export const withFallback = (logger: Logger, { away, back }: Words) => {
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
     * What the store says, or what is done without it while it is away.
     * @param isAnswer which of the store's rejections are answers and no faults; they go to the caller.
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

import { useCallback, useState } from 'react';

/** Runs actions, and has the message of the last one if it has failed. `attempt` is the same function in every rendering. */
export const useAttempt = () => {
  const [problem, setProblem] = useState<string | null>(null);
  const attempt = useCallback(async (action: () => Promise<void>): Promise<void> => {
    try {
      await action();
      setProblem(null);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }, []);
  return { problem, attempt };
};

/** Wakes the loop that sends mail when there is something to do. */
export type WakeUp = {
  /** @param isForAll whether to poll for all messages, also those that wait for a poll. */
  wake(isForAll?: boolean): void;
  /**
   * Waits for a signal, unless there was one since the last wait. For one caller. @param longest milliseconds.
   * @returns whether a signal was for all messages.
   */
  wait(longest: number): Promise<boolean>;
};

export const createWakeUp = (): WakeUp => {
  let [isSignalled, isSignalledForAll] = [false, false];
  let resume = (): void => undefined;
  const signalled = (longest: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, longest).unref();
      resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  return {
    wake(isForAll = false) {
      isSignalled = true;
      isSignalledForAll ||= isForAll;
      resume();
    },
    async wait(longest) {
      if (!isSignalled) await signalled(longest);
      const isForAll = isSignalledForAll;
      [isSignalled, isSignalledForAll] = [false, false];
      return isForAll;
    },
  };
};

/** Wakes the loop that sends mail when there is something to do. */
export type WakeUp = {
  /** @param isForAll whether to look at messages that may wait as well. */
  wake(isForAll?: boolean): void;
  /**
   * Waits until it is signalled, unless it was since the last wait. For one caller. @param longest milliseconds.
   * @returns whether it was signalled for all messages.
   */
  wait(longest: number): Promise<boolean>;
};

export const wakeUp = (): WakeUp => {
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

/** Wakes the loop that sends mail when there is something to do. */
export type Bell = {
  /** @param isForAll whether to look at messages that may wait as well. */
  ring(isForAll?: boolean): void;
  /**
   * Waits until it is rung, unless it was since the last wait. For one caller. @param longest milliseconds.
   * @returns whether it was rung for all messages.
   */
  wait(longest: number): Promise<boolean>;
};

export const bell = (): Bell => {
  let [isRung, isRungForAll] = [false, false];
  let wake = (): void => undefined;
  const rung = (longest: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, longest).unref();
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  return {
    ring(isForAll = false) {
      isRung = true;
      isRungForAll ||= isForAll;
      wake();
    },
    async wait(longest) {
      if (!isRung) await rung(longest);
      const isForAll = isRungForAll;
      [isRung, isRungForAll] = [false, false];
      return isForAll;
    },
  };
};

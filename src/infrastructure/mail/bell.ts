/** Wakes the loop that sends mail when there is something to do. */
export type Bell = {
  ring(): void;
  /** Waits until it is rung, unless it was since the last wait. For one caller. @param longest milliseconds. */
  wait(longest: number): Promise<void>;
};

export const bell = (): Bell => {
  let isRung = false;
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
    ring() {
      isRung = true;
      wake();
    },
    async wait(longest) {
      if (!isRung) await rung(longest);
      isRung = false;
    },
  };
};

/** The parts that a service has opened. They are closed in the opposite order. */
export type Closing = {
  /** @param close closes what was opened last. */
  add(close: () => unknown): void;
  /**
   * Closes every part once, even if one of them fails.
   * @throws the first error
   */
  closeAll(): Promise<void>;
};

export const closing = (): Closing => {
  const open: (() => unknown)[] = [];
  return {
    add: (close) => void open.push(close),
    closeAll: async () => {
      const errors: unknown[] = [];
      for (let close = open.pop(); close !== undefined; close = open.pop()) {
        try {
          await close();
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) throw errors[0];
    },
  };
};

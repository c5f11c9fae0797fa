export type Closing = ReturnType<typeof closing>;

/** Calls `open`, which adds what it opens. If it fails, what it has opened is closed. */
export const closingOnFailure = async <Result>(open: (opened: Closing) => Promise<Result>): Promise<Result> => {
  const opened = closing();
  try {
    return await open(opened);
  } catch (error) {
    // Why it did not open matters more than an error of closing.
    await opened.closeAll().catch(() => undefined);
    throw error;
  }
};

/** What was opened. It is closed in the opposite order. */
export const closing = () => {
  const open: (() => unknown)[] = [];
  return {
    add: (close: () => unknown): void => void open.push(close),
    /** Closes every part once, even if one of them fails. @throws the first error */
    closeAll: async (): Promise<void> => {
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

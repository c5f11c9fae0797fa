export type OpenedParts = ReturnType<typeof openedParts>;

/** Calls `open`, which adds to `opened` how to close each part that it opens. If `open` fails, these parts are closed. */
export const closingOnFailure = async <Result>(open: (opened: OpenedParts) => Promise<Result>): Promise<Result> => {
  const opened = openedParts();
  try {
    return await open(opened);
  } catch (error) {
    // An error of closing is ignored, since the error of `open` matters more.
    await opened.closeAll().catch(() => undefined);
    throw error;
  }
};

/** A list of opened parts, which are closed in the opposite order. */
export const openedParts = () => {
  const closers: (() => unknown)[] = [];
  return {
    add: (close: () => unknown): void => void closers.push(close),
    /** Closes every part once, even if closing one of them fails. @throws the first error */
    closeAll: async (): Promise<void> => {
      const errors: unknown[] = [];
      for (let close = closers.pop(); close !== undefined; close = closers.pop()) {
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

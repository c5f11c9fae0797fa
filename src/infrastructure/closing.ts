export type Closing = ReturnType<typeof closing>;

/** The parts that a service has opened. They are closed in the opposite order. */
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

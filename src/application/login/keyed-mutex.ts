/** Runs the work of one key one after the other, in order of arrival. Work of other keys does not wait for it. */
export type KeyedMutex = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

export const keyedMutex = (): KeyedMutex => {
  /** The end of the last work of each key; never rejects. */
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const run = (last.get(key) ?? Promise.resolve()).then(work);
    const end = run
      .catch(() => undefined)
      .then(() => {
        if (last.get(key) === end) last.delete(key);
      });
    last.set(key, end);
    return run;
  };
};

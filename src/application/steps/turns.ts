/** Work of the same key is done one after the other, in order of arrival; that of other keys does not wait for it. */
export type Turns = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

export const turns = (): Turns => {
  /** The last work of each key that has some; never rejects. */
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work);
    const end = turn
      .catch(() => undefined)
      .then(() => {
        if (last.get(key) === end) last.delete(key);
      });
    last.set(key, end);
    return turn;
  };
};

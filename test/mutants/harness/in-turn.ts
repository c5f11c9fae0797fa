/** One after the other within this process, as with a lock of its own. */
export const inTurn = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <Result>(work: () => Promise<Result>): Promise<Result> => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };
};

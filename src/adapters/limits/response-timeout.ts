const STEP_MS = 50;

/**
 * Calls `giveUp` after `timeout` milliseconds without a response. After the event loop was blocked, a plain timer would end before a response is read
 * that has arrived meanwhile. So the time is counted in steps, with all sockets read between two of them.
 * @returns a function that cancels it
 */
export const onResponseTimeout = (timeout: number, giveUp: () => void): (() => void) => {
  let left = Math.ceil(timeout / STEP_MS);
  let timer: NodeJS.Timeout;
  let afterSockets: NodeJS.Immediate | undefined;
  const step = (): void => {
    // Immediates run after the sockets have been read.
    afterSockets = setImmediate(() => {
      left -= 1;
      if (left <= 0) giveUp();
      else timer = setTimeout(step, STEP_MS);
    });
  };
  timer = setTimeout(step, Math.min(timeout, STEP_MS));
  return () => {
    clearTimeout(timer);
    clearImmediate(afterSockets);
  };
};

/** @param start starts a timer that calls `giveUp`, and returns a function that stops it. */
const raced =
  (start: typeof onResponseTimeout) =>
  <Result>(timeout: number, work: Promise<Result>, error: () => Error): Promise<Result> => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const stop = start(timeout, () => reject(error()));
    promise.then(stop, stop);
    work.then(resolve, reject);
    return promise;
  };

/** The result of `work`, or a rejection with `error()` after the time of `onResponseTimeout`. */
export const withResponseTimeout = raced(onResponseTimeout);

/** The same after `timeout` milliseconds, however busy the event loop was. */
export const withTimeout = raced((timeout, giveUp) => {
  const timer = setTimeout(giveUp, timeout);
  return () => clearTimeout(timer);
});

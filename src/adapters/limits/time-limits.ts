const STEP_MS = 50;

/**
 * Calls `giveUp` after at least `timeout` milliseconds. If the event loop was blocked, a plain timer would end before the sockets are read, which may
 * already have the response. So the time is counted in steps, and sockets are read between two steps.
 * @returns a function that cancels the call
 */
export const onResponseTimeout = (timeout: number, giveUp: () => void): (() => void) => {
  let stepsLeft = Math.ceil(timeout / STEP_MS);
  let timer: NodeJS.Timeout;
  let afterSockets: NodeJS.Immediate | undefined;
  const step = (): void => {
    // In Node.js, immediates run after the sockets were read.
    afterSockets = setImmediate(() => {
      stepsLeft -= 1;
      if (stepsLeft <= 0) giveUp();
      else timer = setTimeout(step, STEP_MS);
    });
  };
  timer = setTimeout(step, Math.min(timeout, STEP_MS));
  return () => {
    clearTimeout(timer);
    clearImmediate(afterSockets);
  };
};

const withTimer =
  (start: typeof onResponseTimeout) =>
  <Result>(timeout: number, work: Promise<Result>, error: () => Error): Promise<Result> => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const stop = start(timeout, () => reject(error()));
    promise.then(stop, stop);
    work.then(resolve, reject);
    return promise;
  };

/** Resolves as `work` does, or rejects with `error()` after `timeout` milliseconds, counted as by `onResponseTimeout`. */
export const withResponseTimeout = withTimer(onResponseTimeout);

/** As `withResponseTimeout`, but with a plain timer. */
export const withTimeout = withTimer((timeout, giveUp) => {
  const timer = setTimeout(giveUp, timeout);
  return () => clearTimeout(timer);
});

/** As `work`, but rejects `duration` milliseconds after the call at the earliest. If the work took less, the time does not show how long it took. */
export const withRefusalTime = <Result>(duration: number, work: Promise<Result>): Promise<Result> => {
  const { promise: elapsed, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, duration);
  return work.catch((error: unknown) => elapsed.then(() => Promise.reject(error)));
};

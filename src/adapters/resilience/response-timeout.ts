/** Milliseconds between two turns of the event loop that are counted. */
const STEP = 50;

/**
 * Calls `giveUp` when no response has come for `timeout` milliseconds, unless the function it returns was called before.
 * When the event loop is late, a response may lie in the socket while the timers run out. So the time is counted in steps:
 * however late the loop is, a step is one turn of it, and after each step all sockets are read before the next one begins.
 */
export const onResponseTimeout = (timeout: number, giveUp: () => void): (() => void) => {
  let left = Math.ceil(timeout / STEP);
  let timer: NodeJS.Timeout;
  let afterSockets: NodeJS.Immediate | undefined;
  const step = (): void => {
    // Immediates run once the sockets have been read: what came in meanwhile is known by then.
    afterSockets = setImmediate(() => {
      left -= 1;
      if (left <= 0) giveUp();
      else timer = setTimeout(step, STEP);
    });
  };
  timer = setTimeout(step, Math.min(timeout, STEP));
  return () => {
    clearTimeout(timer);
    clearImmediate(afterSockets);
  };
};

/** What `work` comes to, or a rejection with `error()` when there was no response in time. */
export const withResponseTimeout = async <Result>(
  timeout: number,
  work: Promise<Result>,
  error: () => Error,
): Promise<Result> => {
  const late = Promise.withResolvers<never>();
  const cancel = onResponseTimeout(timeout, () => late.reject(error()));
  return Promise.race([work, late.promise]).finally(cancel);
};

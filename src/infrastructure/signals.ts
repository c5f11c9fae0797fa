const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

type Stop = (why: string) => Promise<void>;

/** Under npm, a Ctrl-C sends one signal from the terminal and one from npm. */
export const SIGNALS_OF_NPM = 2;

/**
 * Calls `stop` at the first signal, and then ends the process: a server that hangs may keep a connection open. One signal more than `most` ends it at
 * once; a worker gets one from the terminal and one from its primary process, with which it ends at once. A program that listens itself ends itself.
 * @param fail when `stop` has failed.
 * @returns a function that stops as well, after which signals are none of its concern.
 */
export const stopAtSignals = (stop: Stop, most: number, fail: (error: unknown) => void): Stop => {
  let count = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    count += 1;
    const isAlone = process.listenerCount(signal) === 1;
    if (count === 1) stop(signal).then(() => isAlone && process.exit(), fail);
    if (count > most && isAlone) process.exit(1);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return async (why) => {
    await stop(why);
    if (count === 0) for (const signal of SIGNALS) process.off(signal, onSignal);
  };
};

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

export type Stop = (why: string) => Promise<void>;
type Stoppable = { readonly stop: Stop; readonly signalLimit: number; readonly fail: (error: unknown) => void };

/** If npm runs the program, it gets two signals at a Ctrl-C: one from the terminal, one from npm. */
export const SIGNALS_OF_NPM = 2;

/** The services of this process that stop at signals. `signalCount`: how many of the `SIGNALS` have arrived while there were such services. */
const running = new Set<Stoppable>();
let signalCount = 0;

const onSignal = (signal: NodeJS.Signals): void => {
  signalCount += 1;
  const isOnlyListener = process.listenerCount(signal) === 1;
  const services = [...running];
  const stopAll = () => Promise.all(services.map(({ stop, fail }) => stop(signal).catch(fail)));
  if (signalCount === 1) stopAll().then(() => isOnlyListener && process.exit());
  if (services.every(({ signalLimit }) => signalCount > signalLimit)) process.exit(1);
};

/**
 * Calls `stop` at the first signal. Unless the program has a listener of its own for the signal, the process ends when `stop` has ended: an open
 * connection to a server that hangs could keep it alive.
 * @param signalLimit if more signals arrive than the limit of each running service, the process ends at once. `Infinity` for a worker: it ends with its primary
 * @param fail called if `stop` fails after a signal
 * @returns a function that calls `stop` too. When it has succeeded, signals no longer call `stop`
 */
export const stopAtSignals = (stop: Stop, signalLimit: number, fail: Stoppable['fail']): Stop => {
  const service = { stop, signalLimit, fail };
  if (running.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal);
  running.add(service);
  return async (why) => {
    await stop(why);
    if (signalCount > 0) return;
    running.delete(service);
    if (running.size === 0) for (const signal of SIGNALS) process.off(signal, onSignal);
  };
};

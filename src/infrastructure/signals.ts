const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

type Stop = (why: string) => Promise<void>;
type Stopping = { readonly stop: Stop; readonly most: number; readonly fail: (error: unknown) => void };

/** Under npm, a Ctrl-C sends one signal from the terminal and one from npm. */
export const SIGNALS_OF_NPM = 2;

/** Of all services of this process. */
const running = new Set<Stopping>();
let count = 0;

const onSignal = (signal: NodeJS.Signals): void => {
  count += 1;
  const isAlone = process.listenerCount(signal) === 1;
  const services = [...running];
  const stopped = () => Promise.all(services.map(({ stop, fail }) => stop(signal).catch(fail)));
  if (count === 1) stopped().then(() => isAlone && process.exit());
  if (services.every(({ most }) => count > most)) process.exit(1);
};

/**
 * Calls `stop` at the first signal, and then ends the process: a server that hangs may keep a connection open. One signal more than `most` ends it at
 * once; a worker gets one from the terminal and one from its primary process, with which it ends at once. After the first signal, a program that
 * listens itself ends itself.
 * @param fail when `stop` has failed.
 * @returns a function that stops as well, after which signals are none of its concern.
 */
export const stopAtSignals = (stop: Stop, most: number, fail: Stopping['fail']): Stop => {
  const stopping = { stop, most, fail };
  if (running.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal);
  running.add(stopping);
  return async (why) => {
    await stop(why);
    if (count > 0) return;
    running.delete(stopping);
    if (running.size === 0) for (const signal of SIGNALS) process.off(signal, onSignal);
  };
};

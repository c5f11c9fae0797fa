const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

export type Stop = (why: string) => Promise<void>;
type Service = { readonly stop: Stop; readonly most: number; readonly fail: (error: unknown) => void };

/** Under npm, a Ctrl-C sends one signal from the terminal and one from npm. */
export const SIGNALS_OF_NPM = 2;

/** The services that this process runs, and how many signals it has got. */
const running = new Set<Service>();
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
 * Calls `stop` at the first signal, and then ends the process, unless the program has listeners of its own: a server that hangs may keep a connection
 * open. With more than `most` signals, the process ends at once. A worker has no such limit, since it ends with its primary process.
 * @param fail is called when `stop` has failed.
 * @returns a function that stops as well. Afterwards signals no longer call `stop`: by default, they end the process.
 */
export const stopAtSignals = (stop: Stop, most: number, fail: Service['fail']): Stop => {
  const service = { stop, most, fail };
  if (running.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal);
  running.add(service);
  return async (why) => {
    await stop(why);
    if (count > 0) return;
    running.delete(service);
    if (running.size === 0) for (const signal of SIGNALS) process.off(signal, onSignal);
  };
};

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * V8 observes which lines of code allocate what lives long, and lets them allocate in the old generation from then on. At the start, that is the
 * array of an emitter's listeners. Afterwards, the array of each response would keep the request from being collected with the young generation:
 * up to half of all that is allocated (docs/performance.md).
 */
export const turnOffPretenuring = (): void => setFlagsFromString('--no-allocation-site-pretenuring');

/** Milliseconds. The first requests are answered by then. */
const AFTER_START = 1_000;

/**
 * Gives back the memory that only the start needed, once, in about 70 ms: 14 MiB. V8 would keep them, since it shrinks its young generation at a
 * collection, and an idle process collects nothing (ADR 0021).
 */
export const releaseMemoryOfStart = (): void => {
  setTimeout(() => {
    setFlagsFromString('--expose-gc');
    const collect: NodeJS.GCFunction = runInNewContext('gc');
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, AFTER_START).unref();
};

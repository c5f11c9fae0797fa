import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Turns off an optimization of V8: a place in the code whose objects lived long allocates new ones in the old generation. During a start, arrays of event
 * listeners live long. Afterwards, those of each response would keep its request in memory: half of all allocated memory (docs/capacity.md).
 */
export const turnOffPretenuring = (): void => setFlagsFromString('--no-allocation-site-pretenuring');

/** Milliseconds, so that the collection delays none of the first requests. */
const AFTER_START = 1_000;

/** Collects the 14 MiB of garbage of the start, which blocks for about 70 ms. Otherwise, an idle process would never collect it (ADR 0021). */
export const releaseMemoryOfStart = (): void => {
  setTimeout(() => {
    setFlagsFromString('--expose-gc');
    const collect: NodeJS.GCFunction = runInNewContext('gc');
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, AFTER_START).unref();
};

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Turns off pretenuring in V8: if the objects that a place in the code makes live long, V8 allocates its next ones in the old generation. The arrays of
 * event listeners of a start live long. With pretenuring, those of a response would keep its request until the whole heap is collected (docs/capacity.md).
 */
export const turnOffPretenuring = (): void => setFlagsFromString('--no-allocation-site-pretenuring');

/** Milliseconds between the start and the collection, which would delay the first requests. */
const AFTER_START = 1_000;

/** Collects the 14 MiB of garbage of the start, which blocks for about 70 ms. An idle process would keep this garbage otherwise (ADR 0034). */
export const releaseMemoryOfStart = (): void => {
  setTimeout(() => {
    setFlagsFromString('--expose-gc');
    const collect: NodeJS.GCFunction = runInNewContext('gc');
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  }, AFTER_START).unref();
};

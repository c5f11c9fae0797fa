import { fileURLToPath } from 'node:url';

/** A variable that halves the start time of test processes, because Node.js then caches compiled code, keyed by content. */
export const COMPILE_CACHE = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../../node_modules/.cache/tandem/compile', import.meta.url)),
};

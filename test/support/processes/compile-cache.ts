import { fileURLToPath } from 'node:url';

/** A variable that lets processes of the tests start in half the time: Node keeps what it compiled, and checks it by content. */
export const COMPILE_CACHE = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../../node_modules/.cache/tandem/compile', import.meta.url)),
};

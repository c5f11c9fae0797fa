import { KNOWN_NAMES } from './unknown-variables.ts';
import type { Env } from './variable.ts';

/**
 * The environment without the quotes around values that `docker run --env-file` and `kubectl create secret --from-env-file` keep. No variable has
 * a value that needs them.
 */
export const withoutQuotes = (env: Env): Env =>
  Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      KNOWN_NAMES.has(name) ? value?.replace(/^(["'])(.*)\1$/s, '$2') : value,
    ]),
  );

/** An error for a variable whose name begins with a byte order mark: it was the first line of a file that Node or Docker read. */
export const markedNames = (env: Env): string[] =>
  Object.keys(env)
    .filter((name) => name.startsWith('\uFEFF'))
    .map((name) => `${name.slice(1)}: the file that sets it must not begin with a byte order mark`);

import { closest, distance } from 'fastest-levenshtein';
import { SECRET_VARIABLES } from './secret-files.ts';
import type { Env } from './variable.ts';
import { VARIABLE_NAMES } from './variables.ts';

/** Prefixes of the service's variables. An unknown name with one of them is probably a mistake. */
const PREFIX =
  /^(?:ALLOWED_ORIGINS|(?:ACCOUNT_PAGES|BCRYPT|BRAND|DATABASE|EMAIL_VERIFICATION|JWT|MAIL|PASSWORD_RESET|RATE_LIMIT|REDIS|SLOW_REQUEST)_)/;
/** Set by Kubernetes and Docker for a neighboring service called `redis`, `database` or `mail`. */
const OF_NEIGHBOUR = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_\w+)?|NAME|ENV_\w+)$/;
const NAME = /^[A-Z][A-Z0-9_]{5,63}$/;
/** The variables of the service, those of files included. */
export const KNOWN_NAMES: ReadonlySet<string> = new Set([
  ...VARIABLE_NAMES,
  ...SECRET_VARIABLES.map((name) => `${name}_FILE`),
]);

/** A warning for each unknown name that resembles a variable of the service. Contains names, but no values. */
export const unknownVariables = (env: Env): string[] =>
  Object.keys(env)
    .filter((name) => env[name] && NAME.test(name) && !OF_NEIGHBOUR.test(name))
    .filter((name) => !KNOWN_NAMES.has(name))
    .flatMap((name) => {
      const isOurs = PREFIX.test(name);
      const nearest = nearestTo(name, isOurs ? 1 / 3 : 1 / 4);
      if (nearest !== undefined) return [`${name} is not a variable of this service. Did you mean ${nearest}?`];
      return isOurs ? [`${name} is not a variable of this service`] : [];
    });

/** The variable with the smallest edit distance; `undefined` when that is above the given part of its length. */
const nearestTo = (name: string, part: number): string | undefined => {
  const nearest = closest(name, VARIABLE_NAMES);
  return distance(name, nearest) <= nearest.length * part ? nearest : undefined;
};

import { SECRET_VARIABLES } from './secret-files.ts';
import type { Env } from './variable.ts';
import { VARIABLE_NAMES } from './variables.ts';

/** Prefixes of the service's variables. An unknown name with one of them is probably a mistake. */
const PREFIX =
  /^(?:ALLOWED_ORIGIN|DEVICE_BINDING|EMAIL_VERIF|RATE_LIMIT|SECOND_FACT|TRUST_PROX|(?:ACCOUNT_PAGES|BCRYPT|BRAND|DATABASE|EMAIL_VERIFICATION|JWT|MAIL|PASSWORD_RESET|RATE_LIMIT|REDIS|SLOW_REQUEST)_)/;
/** Set by Kubernetes and Docker for a neighboring service called `redis`, `database` or `mail`. */
const OF_NEIGHBOUR = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_\w+)?|NAME|ENV_\w+)$/;
const NAME = /^[A-Z][A-Z0-9_]{5,63}$/;
/** The variables of the service, those of files included. */
export const KNOWN_NAMES: ReadonlySet<string> = new Set([
  ...VARIABLE_NAMES,
  ...SECRET_VARIABLES.map((name) => `${name}_FILE`),
]);

/** A warning that names the variables with prefixes of the service that it does not know. */
export const unknownVariables = (env: Env): string[] => {
  const unknown = Object.keys(env).filter(
    (name) => env[name] && NAME.test(name) && PREFIX.test(name) && !OF_NEIGHBOUR.test(name) && !KNOWN_NAMES.has(name),
  );
  return unknown.length === 0 ? [] : [`Not variables of this service: ${unknown.join(', ')}`];
};

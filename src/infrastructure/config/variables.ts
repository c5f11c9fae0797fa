import { readFileSync } from 'node:fs';
import { systemReason } from '../../adapters/log/redact-error.ts';
import { decodeText } from '../texts.ts';
import { ACCOUNT_VARIABLES, ADMIN_VARIABLES, FORMER_SYSTEM_VARIABLES } from './account-variables.ts';
import type { Environment, Format, Variable } from './formats.ts';
import { withHost } from './server-urls.ts';
import { SERVICE_VARIABLES } from './service-variables.ts';
import { SESSION_VARIABLES } from './session-variables.ts';

/** Every variable that the service reads. `npm run docs` writes `.env.example` and the table of the documentation from it. */
export const VARIABLES = {
  ...SERVICE_VARIABLES,
  ...SESSION_VARIABLES,
  ...ACCOUNT_VARIABLES,
  ...FORMER_SYSTEM_VARIABLES,
  ...ADMIN_VARIABLES,
};

export type VariableName = keyof typeof VARIABLES;
export type Env = Readonly<Record<string, string | undefined>>;

type ValueOf<Entry> = Entry extends { readonly format: Format<infer T> }
  ? T | (Entry extends { readonly default: unknown } ? never : undefined)
  : never;
/** The parsed variables; `undefined` for an unset variable without a default. */
export type Values = { readonly [Name in VariableName]: ValueOf<(typeof VARIABLES)[Name]> };

// `Object.keys` is typed to return any strings.
export const VARIABLE_NAMES = Object.keys(VARIABLES) as VariableName[];

export const defaultText = ({ default: text }: Variable, environment: Environment): string | undefined =>
  typeof text === 'object' ? text[environment] : text;

const environmentOf = ({ NODE_ENV }: Env) =>
  NODE_ENV === 'production' || NODE_ENV === 'test' ? NODE_ENV : 'development';

/** The values of the valid variables, and a line for each invalid one. An empty variable counts as unset. */
export const readVariables = (env: Env) => {
  const values: Record<string, unknown> = {};
  const invalid: string[] = [];
  for (const name of VARIABLE_NAMES) {
    const variable: Variable = VARIABLES[name];
    const text = env[name] || defaultText(variable, environmentOf(env));
    const value = text === undefined ? undefined : variable.format.parse(text);
    if (text === undefined || value !== undefined) values[name] = value;
    else invalid.push(`${name}: expected ${variable.format.expected}`);
  }
  // The formats of VARIABLES have these values.
  return { values: values as Partial<Values>, invalid };
};

/** All variables with their values. Secrets have `null`, and so has PAGE_SERVERS, which has hashes of secrets. */
export const shownSettings = (env: Env) =>
  VARIABLE_NAMES.map((name) => {
    const variable: Variable = VARIABLES[name];
    const isHidden = variable.secret === true || name === 'PAGE_SERVERS';
    const text = env[name] || defaultText(variable, environmentOf(env)) || variable.unset || 'none';
    return { name, value: isHidden ? null : text, isSet: Boolean(env[name]), meaning: variable.meaning };
  });

/** The driver of PostgreSQL reads PGPASSWORD. */
const SECRETS: readonly string[] = [
  'PGPASSWORD',
  ...VARIABLE_NAMES.filter((name) => (VARIABLES[name] as Variable).secret),
];
/** Names of files with secrets of providers. */
const OF_PROVIDERS = /^(OIDC_[A-Z\d_]{1,80}_(?:CLIENT_SECRET|PRIVATE_KEY))_FILE$/;
const KNOWN = new Set<string>([...VARIABLE_NAMES, ...SECRETS.map((name) => `${name}_FILE`)]);

/**
 * The environment with the contents of the files that `<name>_FILE` names, without the line breaks at their ends, and a line for each file that cannot
 * be read. Removes quotes around values, which `docker run --env-file` and `kubectl create secret --from-env-file` keep.
 */
export const readEnvironment = (given: Env): { readonly env: Env; readonly problems: readonly string[] } => {
  const env: Record<string, string | undefined> = { ...given };
  const problems: string[] = [];
  for (const name of Object.keys(env)) {
    if (KNOWN.has(name) || name.startsWith('OIDC_')) env[name] = env[name]?.replace(/^(["'])(.*)\1$/s, '$2');
    // A byte order mark at the beginning of an environment file becomes part of the first name.
    if (name.startsWith('\uFEFF'))
      problems.push(`${name.slice(1)}: the file that sets it must not begin with a byte order mark`);
  }
  const ofProviders = Object.keys(env).flatMap((name) => OF_PROVIDERS.exec(name)?.slice(1) ?? []);
  for (const name of [...SECRETS, ...ofProviders]) {
    const path = env[`${name}_FILE`];
    if (!path) continue;
    if (env[name]) problems.push(`${name}_FILE: must be unset, or ${name} must be`);
    try {
      env[name] = decodeText(readFileSync(path)).replace(/[\r\n]+$/, '');
      if (env[name] === '') problems.push(`${name}_FILE: the file is empty`);
    } catch (error) {
      problems.push(`${name}_FILE: the file cannot be read: ${systemReason(error)}`);
    }
  }
  return { env: env.PGPASSWORD_FILE ? withPassword(env) : env, problems };
};

/** The driver reads PGPASSWORD from the environment of the process alone, so the password of a file becomes that of the URL. */
const withPassword = (env: Env): Env => {
  const text = withHost(env.DATABASE_URL ?? '');
  if (!env.PGPASSWORD || !/^postgres(?:ql)?:/.test(text) || !URL.canParse(text)) return env;
  const url = new URL(text);
  if (url.password === '') url.password = encodeURIComponent(env.PGPASSWORD);
  return { ...env, DATABASE_URL: url.href };
};

/** An unknown name that begins so is probably a mistake, unless it is of a neighbour. */
const PREFIX =
  /^(?:ALLOWED_ORIGIN|DEVICE_BINDING|EMAIL_VERIF|RATE_LIMIT|SECOND_FACT|TRUST_PROX|(?:ACCOUNT_PAGES|BCRYPT|BRAND|DATABASE|JWT|MAIL|REDIS|SLOW_REQUEST)_)[A-Z0-9_]{0,60}$/;

/** Whether Kubernetes or Docker sets the variable for another service, which may be called `redis`, `database` or `mail`. */
export const isOfNeighbour = (name: string): boolean =>
  /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_\w+)?|NAME|ENV_\w+)$/.test(name);

/** A warning that names the variables with prefixes of the service that it does not know. */
export const unknownVariables = (env: Env): string[] => {
  const isUnknown = (name: string) => PREFIX.test(name) && !isOfNeighbour(name) && !KNOWN.has(name);
  const unknown = Object.keys(env).filter((name) => env[name] && isUnknown(name));
  return unknown.length === 0 ? [] : [`Not variables of this service: ${unknown.join(', ')}`];
};

import { readFileSync } from 'node:fs';
import { systemReason } from '../../adapters/log/redact-error.ts';
import { decodeText } from '../texts.ts';
import { ACCOUNT_VARIABLES, ADMIN_VARIABLES, FORMER_SYSTEM_VARIABLES } from './account-variables.ts';
import type { Environment, Format, Variable } from './formats.ts';
import { withSocketHost } from './server-urls.ts';
import { SERVICE_VARIABLES } from './service-variables.ts';
import { SESSION_VARIABLES } from './session-variables.ts';

/** The variables of the service, without those of providers (`providers.ts`). `npm run docs` writes `.env.example` and `docs/configuration.md` from them. */
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
  // The cast: each value is of its format's type.
  return { values: values as Partial<Values>, invalid };
};

/** `VARIABLES` with their values. The value is `null` for secrets, for public keys, and for PAGE_SERVERS, which has hashes of secrets. */
export const shownSettings = (env: Env) =>
  VARIABLE_NAMES.map((name) => {
    const variable: Variable = VARIABLES[name];
    const isHidden = variable.secret === true || name === 'PAGE_SERVERS';
    const text = env[name] || defaultText(variable, environmentOf(env)) || variable.unset || 'none';
    return { name, value: isHidden ? null : text, isSet: Boolean(env[name]), meaning: variable.meaning };
  });

/** Variables that may come from a file, without those of providers. PGPASSWORD is among them, since the driver of PostgreSQL reads it. */
const FILE_VARIABLES: readonly string[] = [
  'PGPASSWORD',
  ...VARIABLE_NAMES.filter((name) => (VARIABLES[name] as Variable).secret),
];
const PROVIDER_SECRET_FILE = /^(OIDC_[A-Z\d_]{1,80}_(?:CLIENT_SECRET|PRIVATE_KEY))_FILE$/;
const KNOWN_NAMES = new Set<string>([...VARIABLE_NAMES, ...FILE_VARIABLES.map((name) => `${name}_FILE`)]);

/**
 * The environment, with the contents of the files that `<name>_FILE` names (without line breaks at their ends), and a line for each problem with a file.
 * Quotes around the service's values that are not from such files are removed: `docker run --env-file` and `kubectl create secret --from-env-file` keep them.
 */
export const readEnvironment = (environment: Env): { readonly env: Env; readonly problems: readonly string[] } => {
  const env: Record<string, string | undefined> = { ...environment };
  const problems: string[] = [];
  for (const name of Object.keys(env)) {
    if (KNOWN_NAMES.has(name) || name.startsWith('OIDC_')) env[name] = env[name]?.replace(/^(["'])(.*)\1$/s, '$2');
    // The byte order mark at the beginning of an environment file becomes part of the first name.
    if (name.startsWith('\uFEFF'))
      problems.push(`${name.slice(1)}: the file that sets it must not begin with a byte order mark`);
  }
  const providerSecrets = Object.keys(env).flatMap((name) => PROVIDER_SECRET_FILE.exec(name)?.slice(1) ?? []);
  for (const name of [...FILE_VARIABLES, ...providerSecrets]) {
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

/** Puts PGPASSWORD into a URL of PostgreSQL without a password, since the driver reads it only from the environment of the process. */
const withPassword = (env: Env): Env => {
  const text = withSocketHost(env.DATABASE_URL ?? '');
  if (!env.PGPASSWORD || !/^postgres(?:ql)?:/.test(text) || !URL.canParse(text)) return env;
  const url = new URL(text);
  if (url.password === '') url.password = encodeURIComponent(env.PGPASSWORD);
  return { ...env, DATABASE_URL: url.href };
};

/** Beginnings of names of this service's variables. An unknown variable with such a name is probably misspelt. */
const PREFIX =
  /^(?:ALLOWED_ORIGIN|DEVICE_BINDING|EMAIL_VERIF|RATE_LIMIT|SECOND_FACT|TRUST_PROX|(?:ACCOUNT_PAGES|BCRYPT|BRAND|DATABASE|JWT|MAIL|REDIS|SLOW_REQUEST)_)[A-Z0-9_]{0,60}$/;

/** Whether Kubernetes or Docker sets a variable of this name for another service, which may be called `redis`, `database` or `mail`. */
export const isOfOtherService = (name: string): boolean =>
  /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_\w+)?|NAME|ENV_\w+)$/.test(name);

/** A warning that names the unknown variables with a prefix of this service; none if there are no such variables. */
export const unknownVariableWarnings = (env: Env): string[] => {
  const isUnknown = (name: string) => PREFIX.test(name) && !isOfOtherService(name) && !KNOWN_NAMES.has(name);
  const unknown = Object.keys(env).filter((name) => env[name] && isUnknown(name));
  return unknown.length === 0 ? [] : [`Not variables of this service: ${unknown.join(', ')}`];
};

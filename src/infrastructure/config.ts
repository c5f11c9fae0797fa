import type { TokenKeys } from '../adapters/token-signer/jose.ts';
import { type HttpSettings, httpSettings } from './config/http-settings.ts';
import { refusals } from './config/refusals.ts';
import { readTokenKeys } from './config/token-keys.ts';
import { type TokenSettings, tokenSettings } from './config/token-settings.ts';
import { readValues, type Values } from './config/values.ts';
import type { Environment } from './config/variable.ts';
import { mapVariables, shownDefault, withDefaults } from './config/variables.ts';
import { warningsOf } from './config/warnings.ts';

/** Times in milliseconds. */
type DatabasePool = {
  readonly poolSize: number;
  readonly connectionTimeout: number;
  readonly statementTimeout: number;
  readonly idleTimeout: number;
};

export type Config = {
  readonly environment: Environment;
  readonly host: string;
  /** 0 is any free port. */
  readonly port: number;
  readonly database:
    | { readonly kind: 'embedded'; readonly dataDir: string }
    | ({ readonly kind: 'postgresql'; readonly url: string } & DatabasePool)
    | { readonly kind: 'memory' };
  readonly dataDir: string;
  readonly migrateOnStart: boolean;
  /** One is a server, several are nodes of one cluster; empty without Redis. */
  readonly redisUrls: readonly string[];
  /** `redis` only with `redisUrls`. */
  readonly sessionStore: 'database' | 'redis';
  /** SPEC "Password handling": 10. */
  readonly bcryptCost: number;
  readonly passwordBlocklist: 'common' | 'off';
  /** `null`, never in production: the service generates its own in `dataDir`. */
  readonly keys: TokenKeys | null;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  /** What is allowed but risky or probably a mistake: one line for each. */
  readonly warnings: readonly string[];
  /** The address of the metrics; `null` when they are off. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
} & HttpSettings &
  TokenSettings;

/** All problems of the configuration: a line each, with the name of the variable and never its value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['The configuration is invalid.', ...problems].join('\n'));
    this.problems = problems;
  }
}

/** Every variable, its default and its meaning, for `.env.example` and the tables of the documentation. */
export const CONFIG_VARIABLES = Object.values(
  mapVariables((name, variable) => ({ name, default: shownDefault(variable), meaning: variable.meaning })),
);

const databaseOf = (values: Values): Config['database'] => {
  const { DATABASE_URL: url, DATA_DIR: dataDir } = values;
  if (url === undefined) return { kind: 'embedded', dataDir };
  return url === 'memory:' ? { kind: 'memory' } : { kind: 'postgresql', url, ...poolOf(values) };
};

/** The time-outs of the database are below that of a request, which can then still report the failure. */
const poolOf = (values: Values): DatabasePool => {
  const half = Math.max(1, Math.floor(values.REQUEST_TIMEOUT_MS / 2));
  return {
    poolSize: values.DATABASE_POOL_SIZE,
    connectionTimeout: values.DATABASE_CONNECTION_TIMEOUT ?? Math.min(3_000, half),
    statementTimeout: values.DATABASE_STATEMENT_TIMEOUT ?? Math.min(5_000, half),
    idleTimeout: values.DATABASE_IDLE_TIMEOUT ?? Math.min(10_000, half),
  };
};

/** REDIS_PASSWORD is taken literally; a password in a URL is percent-encoded. */
const redisUrlsOf = ({ REDIS_URL: urls = [], REDIS_PASSWORD: password }: Values): readonly string[] =>
  password === undefined
    ? urls
    : urls.map((text) => Object.assign(new URL(text), { password: encodeURIComponent(password) }).href);

/**
 * Parses the environment (SPEC; ADR 0018). An empty variable counts as unset.
 * @throws ConfigError
 */
export const parseConfig = (env: Readonly<Record<string, string | undefined>>): Config => {
  const texts = withDefaults(env);
  const { values: fitting, unfit } = readValues(texts);
  const { keys, problems: keyProblems } = readTokenKeys(texts);
  const problems = [...unfit, ...refusals(fitting), ...keyProblems.map(([name, problem]) => `${name}: ${problem}`)];
  if (problems.length > 0) throw new ConfigError(problems);
  // Without problems, no variable is missing.
  const values = fitting as Values;
  return {
    ...httpSettings(values),
    ...tokenSettings(values),
    keys,
    environment: values.NODE_ENV,
    host: values.HOST,
    port: values.PORT,
    database: databaseOf(values),
    dataDir: values.DATA_DIR,
    migrateOnStart: values.MIGRATE_ON_START,
    redisUrls: redisUrlsOf(values),
    sessionStore: values.SESSION_STORE,
    bcryptCost: values.BCRYPT_COST,
    passwordBlocklist: values.PASSWORD_BLOCKLIST,
    logLevel: values.LOG_LEVEL,
    warnings: warningsOf(values, env),
    metrics: values.METRICS === 'off' ? null : values.METRICS,
  };
};

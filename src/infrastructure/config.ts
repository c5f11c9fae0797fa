import type { TokenKeys } from '../adapters/token-signer/jose.ts';
import { cookiePathOf } from './config/cookie-path.ts';
import { accessLifetimeOf, raceWindowOf } from './config/lifetimes.ts';
import { refusals } from './config/refusals.ts';
import { readTokenKeys } from './config/token-keys.ts';
import { readValues, type Values } from './config/values.ts';
import type { Environment } from './config/variable.ts';
import { mapVariables, shownDefault, withDefaults } from './config/variables.ts';
import { warningsOf } from './config/warnings.ts';

type OriginsVariable = 'ALLOWED_ORIGINS_DEV' | 'ALLOWED_ORIGINS_PROD';
type Tier = 'global' | 'strict' | 'public';

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
  /** An http(s) URL without a trailing slash. */
  readonly baseUrl: string;
  /** Serialized origins (RFC 6454 §6.2). */
  readonly allowedOrigins: readonly string[];
  /** The variable that they are from. */
  readonly allowedOriginsSetting: OriginsVariable;
  /** The number of proxies in front of the service. */
  readonly trustProxy: number;
  /** Milliseconds. */
  readonly requestTimeout: number;
  /** Milliseconds; `warn` is not above `error`. */
  readonly slowRequest: { readonly warn: number; readonly error: number };
  /** SPEC "Rate limiting"; windows in milliseconds, `null` is unlimited. */
  readonly rateLimits: Readonly<Record<Tier, { readonly requests: number; readonly window: number } | null>>;
  readonly database: /** `dataDir` is the database's own directory, within the service's. */
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
  /** `null`, never in production: the service keeps its own in `dataDir`. */
  readonly keys: TokenKeys | null;
  /** The `iss` and the `aud` of both tokens; `null` is none. */
  readonly issuer: string | null;
  readonly audience: string | null;
  /** Milliseconds, as are the next three. */
  readonly accessLifetime: number;
  readonly refreshLifetime: number;
  readonly raceWindow: number;
  readonly replayWindow: number;
  readonly refreshCookie: {
    readonly path: string;
    readonly sameSite: 'lax' | 'strict' | 'none';
    readonly secure: boolean;
    /** Milliseconds. */
    readonly maxAge: number;
  };
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  /** What is allowed but probably a mistake or a risk: a line of the log each. */
  readonly warnings: readonly string[];
  /** The address of the metrics; `null` when they are off. */
  readonly metrics: { readonly host: string; readonly port: number } | null;
};

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

const originsVariable = ({ NODE_ENV }: Values): OriginsVariable =>
  NODE_ENV === 'production' ? 'ALLOWED_ORIGINS_PROD' : 'ALLOWED_ORIGINS_DEV';

const limitOf = (limit: Values['RATE_LIMIT_GLOBAL']) => (limit === 'off' ? null : limit);

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
    environment: values.NODE_ENV,
    host: values.HOST,
    port: values.PORT,
    baseUrl: values.BASE_URL ?? `http://localhost:${values.PORT}`,
    allowedOrigins: values[originsVariable(values)],
    allowedOriginsSetting: originsVariable(values),
    trustProxy: values.TRUST_PROXY,
    requestTimeout: values.REQUEST_TIMEOUT_MS,
    slowRequest: values.SLOW_REQUEST_THRESHOLDS,
    rateLimits: {
      global: limitOf(values.RATE_LIMIT_GLOBAL),
      strict: limitOf(values.RATE_LIMIT_STRICT),
      public: limitOf(values.RATE_LIMIT_PUBLIC),
    },
    database: databaseOf(values),
    dataDir: values.DATA_DIR,
    migrateOnStart: values.MIGRATE_ON_START,
    redisUrls: redisUrlsOf(values),
    sessionStore: values.SESSION_STORE,
    bcryptCost: values.BCRYPT_COST,
    passwordBlocklist: values.PASSWORD_BLOCKLIST,
    keys,
    issuer: values.JWT_ISSUER ?? null,
    audience: values.JWT_AUDIENCE ?? null,
    accessLifetime: accessLifetimeOf(values.JWT_ACCESS_EXPIRES_IN, values.JWT_REFRESH_EXPIRES_IN),
    refreshLifetime: values.JWT_REFRESH_EXPIRES_IN,
    raceWindow: raceWindowOf(values.JWT_REFRESH_RACE_WINDOW, values.JWT_REFRESH_EXPIRES_IN),
    replayWindow: values.JWT_REFRESH_REPLAY_WINDOW,
    refreshCookie: {
      path: cookiePathOf(values.JWT_REFRESH_COOKIE_PATH, values.BASE_URL),
      sameSite: values.JWT_REFRESH_COOKIE_SAME_SITE,
      secure: values.JWT_REFRESH_COOKIE_SECURE,
      maxAge: values.JWT_REFRESH_COOKIE_MAX_AGE_MS,
    },
    logLevel: values.LOG_LEVEL,
    warnings: warningsOf(values, env),
    metrics: values.METRICS === 'off' ? null : values.METRICS,
  };
};

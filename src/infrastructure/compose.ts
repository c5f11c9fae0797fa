import type { Logger } from 'pino';
import { systemClock } from '../adapters/clock/system.ts';
import { createApp, type HttpHandlers } from '../adapters/http/app.ts';
import type { Route } from '../adapters/http/define-route.ts';
import { refreshCookie } from '../adapters/http/refresh-cookie.ts';
import { authRoutes } from '../adapters/http/routes/auth.ts';
import { errorRoutes } from '../adapters/http/routes/errors.ts';
import { type Check, healthRoutes } from '../adapters/http/routes/health.ts';
import { keySetRoutes } from '../adapters/http/routes/key-set.ts';
import { sessionRoutes } from '../adapters/http/routes/sessions.ts';
import { userRoutes } from '../adapters/http/routes/users.ts';
import { ulidGenerator } from '../adapters/id-generator/ulid.ts';
import {
  type PrometheusMetrics,
  prometheusMetrics,
  type RateLimitMode,
  type Readings,
} from '../adapters/metrics/prometheus.ts';
import { zxcvbnPasswordBlocklist } from '../adapters/password-blocklist/zxcvbn.ts';
import { bcryptPasswordHasher } from '../adapters/password-hasher/bcrypt.ts';
import { memorySessionRepository } from '../adapters/session-repository/memory.ts';
import { mikroOrmSessionRepository } from '../adapters/session-repository/mikro-orm.ts';
import { joseTokenSigner } from '../adapters/token-signer/jose.ts';
import { jwks, type PublicJwks } from '../adapters/token-signer/jwks.ts';
import { memoryUserRepository } from '../adapters/user-repository/memory.ts';
import { mikroOrmUserRepository } from '../adapters/user-repository/mikro-orm.ts';
import type { Clock } from '../application/ports/clock.ts';
import type { IdGenerator } from '../application/ports/id-generator.ts';
import type { LoginAttempts } from '../application/ports/login-attempts.ts';
import type { PasswordBlocklist } from '../application/ports/password-blocklist.ts';
import type { PasswordHasher } from '../application/ports/password-hasher.ts';
import type { SessionRepository } from '../application/ports/session-repository.ts';
import type { TokenSigner } from '../application/ports/token-signer.ts';
import type { UserRepository } from '../application/ports/user-repository.ts';
import { authenticate } from '../application/use-cases/authenticate.ts';
import { changePassword } from '../application/use-cases/change-password.ts';
import { endAllSessions } from '../application/use-cases/end-all-sessions.ts';
import { endOwnSession } from '../application/use-cases/end-own-session.ts';
import { endSession } from '../application/use-cases/end-session.ts';
import { getCurrentUser } from '../application/use-cases/get-current-user.ts';
import { listSessions } from '../application/use-cases/list-sessions.ts';
import { type LoginDeps, login } from '../application/use-cases/login.ts';
import { type RefreshDeps, refresh } from '../application/use-cases/refresh.ts';
import { register } from '../application/use-cases/register.ts';
import type { Config } from './config.ts';
import { openDatabase } from './database.ts';
import { loadOrCreateKeys } from './keys.ts';
import { countLoginAttempts } from './login-attempts.ts';
import { awaitRedis, connectRedis, type RedisClient } from './redis.ts';
import { openSessionStore } from './session-store.ts';
import { VERSION } from './version.ts';

/** Everything the application asks of the outside. */
export type Ports = {
  readonly users: UserRepository;
  readonly sessions: SessionRepository;
  readonly tokens: TokenSigner;
  readonly hasher: PasswordHasher;
  /** `null`: any password will do that is long enough. */
  readonly blocklist: PasswordBlocklist | null;
  readonly attempts: LoginAttempts;
  readonly clock: Clock;
  readonly ids: IdGenerator;
};

export type Service = {
  readonly http: HttpHandlers;
  readonly routes: readonly Route[];
  readonly ports: Ports;
  /** What Prometheus is told, where METRICS asks for it. */
  readonly metrics: PrometheusMetrics | null;
  /** Lets go of the database and of Redis. */
  readonly close: () => Promise<void>;
};

/** The part of a request's time that a password may wait to be hashed. */
const HASHING_WAIT = 1 / 3;

/** Puts the service together: the same in production and in tests, which may replace ports. */
export const compose = async (config: Config, logger: Logger, overrides: Partial<Ports> = {}): Promise<Service> => {
  const storage = await openStorage(config, logger);
  const redis = config.redisUrls.length === 0 ? null : connectRedis(config.redisUrls, logger);
  if (redis !== null) await awaitRedis(redis);
  const metrics = config.metrics === null ? null : prometheusMetrics();
  const hasher = bcryptPasswordHasher({ cost: config.bcryptCost, maxWait: config.requestTimeout * HASHING_WAIT });
  const clock = overrides.clock ?? systemClock;
  const { tokens, keySet } = await openTokens(config, overrides);
  const ports: Ports = {
    users: storage.users,
    sessions: storage.sessions,
    tokens,
    hasher,
    blocklist: config.passwordBlocklist === 'common' ? await zxcvbnPasswordBlocklist() : null,
    attempts: countLoginAttempts(redis, logger),
    clock,
    ids: ulidGenerator(clock),
    ...overrides,
  };
  const checks = redis === null ? storage.checks : [...storage.checks, redisCheck(redis)];
  const told = {
    onRefresh: metrics?.observeRefresh,
    onRehashFailed: (error: unknown) => logger.warn({ err: error }, 'a password hash could not be renewed'),
  };
  const routes = declareRoutes(config, { ...ports, ...told }, checks, keySet);
  const http = createApp(routes, {
    ...config,
    ...ports,
    logger,
    redis,
    authenticate: authenticate(ports),
    version: VERSION,
    onRequest: metrics?.observeRequest,
  });
  metrics?.watch({
    passwordHashes: hasher.load,
    databaseConnections: storage.connections,
    rateLimits: () => rateLimitMode(redis, http),
  });
  const close = async () => {
    redis?.disconnect();
    await storage.close();
  };
  return { http, routes, ports, metrics, close };
};

/** A signer from elsewhere has keys of its own, which are not known here. */
const openTokens = async (
  config: Config,
  { tokens }: Partial<Ports>,
): Promise<{ tokens: TokenSigner; keySet: PublicJwks }> => {
  if (tokens !== undefined) return { tokens, keySet: { keys: [] } };
  const keys = config.keys ?? (await loadOrCreateKeys(config.dataDir));
  return { tokens: await joseTokenSigner(keys, config), keySet: await jwks(keys.access) };
};

const rateLimitMode = (redis: RedisClient | null, { limitsDegraded }: HttpHandlers): RateLimitMode => {
  if (redis === null) return 'process';
  return limitsDegraded() ? 'degraded' : 'shared';
};

/** Limits are counted in the process while Redis is away. */
const redisCheck = (redis: RedisClient): Check => ({ name: 'redis', ping: () => redis.ping(), required: false });

const declareRoutes = (
  config: Config,
  ports: Ports & Pick<RefreshDeps, 'onRefresh'> & Pick<LoginDeps, 'onRehashFailed'>,
  checks: readonly Check[],
  keySet: PublicJwks,
): Route[] => {
  const deps = { ...ports, ...config, replayPolicy: config };
  return [
    ...authRoutes(
      { register: register(deps), login: login(deps), refresh: refresh(deps), endSession: endSession(deps) },
      refreshCookie(config.refreshCookie),
    ),
    ...sessionRoutes({
      listSessions: listSessions(deps),
      endOwnSession: endOwnSession(deps),
      endAllSessions: endAllSessions(deps),
    }),
    ...userRoutes({ getCurrentUser: getCurrentUser(deps), changePassword: changePassword(deps) }),
    ...errorRoutes(config.baseUrl),
    ...keySetRoutes(keySet),
    ...healthRoutes(checks),
  ];
};

type Storage = Pick<Ports, 'users' | 'sessions'> & {
  readonly checks: readonly Check[];
  readonly connections: Readings['databaseConnections'];
  readonly close: () => Promise<void>;
};

const openStorage = async (config: Config, logger: Logger): Promise<Storage> => {
  const { users, sessionsWithin, checks, connections, close } = await openRepositories(config);
  try {
    const store = await openSessionStore(config, sessionsWithin, logger);
    return {
      users,
      sessions: store.sessions,
      checks: [...checks, ...store.checks],
      connections,
      close: async () => {
        store.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
};

type Repositories = Omit<Storage, 'sessions'> & { readonly sessionsWithin: Parameters<typeof openSessionStore>[1] };

const openRepositories = async ({ database, migrateOnStart }: Config): Promise<Repositories> => {
  if (database.kind === 'memory') {
    return {
      users: memoryUserRepository(),
      sessionsWithin: () => memorySessionRepository(),
      checks: [],
      connections: () => null,
      close: async () => undefined,
    };
  }
  const { em, ping, connections, close } = await openDatabase(database, { migrate: migrateOnStart });
  return {
    users: mikroOrmUserRepository(em),
    sessionsWithin: (options) => mikroOrmSessionRepository(em, options),
    checks: [{ name: 'database', ping, required: true }],
    connections,
    close,
  };
};

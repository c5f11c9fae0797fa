import { inject } from 'vitest';
import { postgresOfTheTests, redisOfTheTests } from './servers/of-the-tests.ts';
import { createDatabase } from './storage/databases.ts';
import { takeRedisDatabase } from './storage/redis-databases.ts';

/** The PostgreSQL that this project's services are on; `null` where everything is embedded. */
export const realPostgres = (): string | null => real(postgresOfTheTests);
const realRedis = (): string | null => real(redisOfTheTests);

const real = (find: () => string | undefined): string | null => {
  if (inject('parts') !== 'real') return null;
  const url = find();
  if (url === undefined) throw new Error('the server that this test needs is missing here');
  return url;
};

type Parts = { readonly env: Readonly<Record<string, string>>; readonly remove: () => Promise<unknown> };

/**
 * What one service under test has to itself where its test does not say what: a database, unless it was given repositories,
 * and a Redis that counts its limits.
 * @returns variables of its environment, and how to take away what they name.
 */
export const partsOfService = async (
  given: Readonly<Record<string, string>>,
  { users, sessions }: { readonly users?: unknown; readonly sessions?: unknown },
): Promise<Parts> => {
  const storesItself = given.DATABASE_URL === undefined && (users === undefined || sessions === undefined);
  const postgres = storesItself ? realPostgres() : null;
  const redisServer = given.REDIS_URL === undefined ? realRedis() : null;
  const database = postgres === null ? null : await createDatabase(postgres);
  const redis = redisServer === null ? null : await takeRedisDatabase(redisServer);
  return {
    env: { DATABASE_URL: database?.url ?? 'memory:', ...(redis !== null && { REDIS_URL: redis.url }) },
    remove: () => Promise.all([database?.drop(), redis?.empty()]),
  };
};

import { inject } from 'vitest';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import type { Overrides } from '../../src/infrastructure/compose/ports.ts';
import { postgresOfTheTests, redisOfTheTests } from './servers/of-the-tests.ts';
import { createDatabase } from './storage/databases.ts';
import { takeRedisDatabase } from './storage/redis-databases.ts';

/** The URL of the PostgreSQL that the services of this vitest project use, or `null` if everything is in memory. */
export const realPostgres = (): string | null => real(postgresOfTheTests);
const realRedis = (): string | null => real(redisOfTheTests);

const real = (find: () => string | undefined): string | null => {
  if (inject('parts') === 'embedded') return null;
  const url = find();
  if (url === undefined) throw new Error('the server that this test needs is missing here');
  return url;
};

type Parts = {
  readonly env: Readonly<Record<string, string>>;
  readonly storage: Overrides['storage'];
  readonly remove: () => Promise<unknown>;
};

/**
 * Creates a database for one service, unless the test gives a storage or DATABASE_URL, and a Redis database, unless the test
 * gives REDIS_URL.
 * @returns the environment variables and the storage for the service, and `remove`, which drops the database
 */
export const partsOfService = async (
  given: Readonly<Record<string, string>>,
  storage: Overrides['storage'],
): Promise<Parts> => {
  const storesItself = given.DATABASE_URL === undefined && storage === undefined;
  const postgres = storesItself ? realPostgres() : null;
  const redisServer = given.REDIS_URL === undefined ? realRedis() : null;
  const database = postgres === null ? null : await createDatabase(postgres);
  const redis = redisServer === null ? null : await takeRedisDatabase(redisServer);
  return {
    env: { ...(database !== null && { DATABASE_URL: database.url }), ...(redis !== null && { REDIS_URL: redis }) },
    storage: storage ?? (storesItself && database === null ? memoryStorage() : undefined),
    remove: async () => database?.drop(),
  };
};

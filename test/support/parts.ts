import { inject } from 'vitest';
import { memoryStorage } from '../../src/adapters/records/memory.ts';
import type { Overrides } from '../../src/infrastructure/compose/ports.ts';
import { postgresOfTheTests, redisOfTheTests } from './servers/of-the-tests.ts';
import { createDatabase } from './storage/databases.ts';
import { takeRedisDatabase } from './storage/redis-databases.ts';

/** The URL of the PostgreSQL that the services of this vitest project use; `null` when everything is in memory. */
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
  /** In place of the service's own. */
  readonly storage: Overrides['storage'];
  readonly remove: () => Promise<unknown>;
};

/**
 * Creates what one service under test does not share: a database, unless it was given a storage,
 * and a Redis database for its rate limits. Variables that the test sets are kept.
 * @returns variables of its environment, its storage, and `remove`, which drops what they name.
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

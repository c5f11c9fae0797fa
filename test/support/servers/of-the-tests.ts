import { inject } from 'vitest';
import { launchPostgres } from './postgres.ts';
import './provided.ts';
import { launchRedis } from './redis.ts';
import type { TestServer } from './server.ts';

/** The PostgreSQL that all tests share and make databases of their own in; `undefined` where there is none. */
export const postgresOfTheTests = (): string | undefined => inject('postgresql')?.url ?? undefined;

/** The Redis that all tests share and take databases of their own on; `undefined` where there is none. */
export const redisOfTheTests = (): string | undefined => inject('redis')?.url ?? undefined;

/** Whether both can be started for one test alone; they always can in CI. */
export const canStartServers = (): boolean =>
  [inject('postgresql'), inject('redis')].every((part) => (part?.programs ?? null) !== null);

/** A PostgreSQL of the test's own, which it may kill or freeze, and stops when it is done. */
export const startPostgres = (): Promise<TestServer> => launchPostgres(needed(inject('postgresql')?.programs));

/** A Redis of the test's own, which it may kill or freeze, and stops when it is done. */
export const startRedis = (): Promise<TestServer> => launchRedis(needed(inject('redis')?.programs));

const needed = <Programs>(programs: Programs | null | undefined): Programs => {
  if (programs === null || programs === undefined)
    throw new Error('servers cannot be started here: see canStartServers');
  return programs;
};

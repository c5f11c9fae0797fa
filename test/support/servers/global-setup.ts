import type { TestProject } from 'vitest/node';
import { provideGalera } from './galera.ts';
import { provideMariadb } from './mariadb.ts';
import { missingParts } from './missing-parts.ts';
import { launchPgbouncer, type PgbouncerProgram, providePgbouncer } from './pgbouncer.ts';
import { launchPostgres, providePostgres } from './postgres.ts';
import './provided.ts';
import { launchRedis, provideRedis } from './redis.ts';

const { TEST_DATABASE_URL, TEST_REDIS_URL } = process.env;

/**
 * Starts one PostgreSQL and one Redis for all tests of a project, unless the environment names others, and removes them at the end.
 * In the project `pooled`, tests reach PostgreSQL only through a PgBouncer. If a server is not available, the run fails in CI;
 * elsewhere the tests that need it are skipped, and the last line of the output says so.
 */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const cleanups: (() => Promise<void>)[] = [];
  const { unlessMissing, refuseInCi, report } = missingParts();
  const cleanUp = async () => {
    for (const clean of cleanups.toReversed()) await clean();
  };

  const postgresql = unlessMissing('PostgreSQL', async () => {
    const { programs, remove } = await providePostgres();
    cleanups.push(remove);
    if (TEST_DATABASE_URL !== undefined) return { programs, url: TEST_DATABASE_URL };
    const { url, stop } = await launchPostgres(programs);
    cleanups.push(stop);
    return { programs, url };
  });
  const pooled = async (url: string | null, program: PgbouncerProgram | null): Promise<string | null> => {
    if (url === null || program === null) return null;
    const pooler = await launchPgbouncer(program, url);
    cleanups.push(pooler.stop);
    return pooler.url;
  };
  const redis = unlessMissing('Redis', async () => {
    const programs = await provideRedis();
    if (TEST_REDIS_URL !== undefined) return { programs, url: TEST_REDIS_URL };
    const { url, stop } = await launchRedis(programs);
    cleanups.push(stop);
    return { programs, url };
  });
  const pgbouncer = unlessMissing('PgBouncer', providePgbouncer);
  const mariadb = unlessMissing('MariaDB', provideMariadb);
  const direct = (await postgresql) ?? { programs: null, url: TEST_DATABASE_URL ?? null };
  const isPooled = project.getProvidedContext().parts === 'pooled';
  project.provide('postgresql', isPooled ? { ...direct, url: await pooled(direct.url, await pgbouncer) } : direct);
  project.provide('pgbouncer', await pgbouncer);
  project.provide('mariadb', await mariadb);
  if (project.name === 'rest-servers') project.provide('galera', await unlessMissing('Galera', provideGalera));
  project.provide('redis', (await redis) ?? { programs: null, url: TEST_REDIS_URL ?? null });

  try {
    refuseInCi();
  } catch (error) {
    await cleanUp();
    throw error;
  }
  return async () => {
    await cleanUp();
    report();
  };
};

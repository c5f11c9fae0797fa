import type { TestProject } from 'vitest/node';
import { launchPostgres, providePostgres } from './postgres.ts';
import './provided.ts';
import { launchRedis, provideRedis } from './redis.ts';
import type { TestServer } from './server.ts';

const { CI = '', TEST_DATABASE_URL, TEST_REDIS_URL } = process.env;
const IN_CI = !['', '0', 'false'].includes(CI);

/**
 * Starts one PostgreSQL and one Redis for all tests of a run, unless the environment names others, and takes them away after
 * it. In CI the run fails when a part cannot be had; elsewhere the last line says which tests were skipped.
 */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const cleanups: (() => Promise<void>)[] = [];
  const missing: string[] = [];
  const cleanUp = async () => {
    for (const clean of cleanups.toReversed()) await clean();
  };
  const unlessMissing = async <Part>(name: string, provide: () => Promise<Part>): Promise<Part | null> => {
    try {
      return await provide();
    } catch (error) {
      missing.push(`${name} (${error instanceof Error ? firstLine(error.message) : error})`);
      return null;
    }
  };
  const urlOf = async (given: string | undefined, start: () => Promise<TestServer> | null): Promise<string | null> => {
    if (given !== undefined) return given;
    const server = await start();
    if (server === null) return null;
    cleanups.push(server.stop);
    return server.url;
  };

  const postgres = await unlessMissing('PostgreSQL', async () => {
    const { programs, remove } = await providePostgres();
    cleanups.push(remove);
    return { programs, url: await urlOf(TEST_DATABASE_URL, () => launchPostgres(programs)) };
  });
  const redis = await unlessMissing('Redis', async () => {
    const program = await provideRedis();
    return { programs: program, url: await urlOf(TEST_REDIS_URL, () => launchRedis(program)) };
  });
  if (missing.length > 0 && IN_CI) {
    await cleanUp();
    throw new Error(`CI runs every test, and this is missing: ${missing.join(', ')}`);
  }
  project.provide('postgresql', postgres ?? { programs: null, url: TEST_DATABASE_URL ?? null });
  project.provide('redis', redis ?? { programs: null, url: TEST_REDIS_URL ?? null });
  return async () => {
    await cleanUp();
    if (missing.length > 0)
      process.stdout.write(`\nSKIPPED: tests that need what is missing here: ${missing.join(', ')}\n`);
  };
};

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

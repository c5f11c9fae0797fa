import type { TestProject } from 'vitest/node';
import { launchPostgres, providePostgres } from './postgres.ts';
import './provided.ts';
import { launchRedis, provideRedis } from './redis.ts';

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
      missing.push(`${name} (${error instanceof Error ? lastLine(error.message) : error})`);
      return null;
    }
  };

  const postgresql = unlessMissing('PostgreSQL', async () => {
    const { programs, remove } = await providePostgres();
    cleanups.push(remove);
    if (TEST_DATABASE_URL !== undefined) return { programs, url: TEST_DATABASE_URL };
    const { url, stop } = await launchPostgres(programs);
    cleanups.push(stop);
    return { programs, url };
  });
  const redis = unlessMissing('Redis', async () => {
    const programs = await provideRedis();
    if (TEST_REDIS_URL !== undefined) return { programs, url: TEST_REDIS_URL };
    const { url, stop } = await launchRedis(programs);
    cleanups.push(stop);
    return { programs, url };
  });
  project.provide('postgresql', (await postgresql) ?? { programs: null, url: TEST_DATABASE_URL ?? null });
  project.provide('redis', (await redis) ?? { programs: null, url: TEST_REDIS_URL ?? null });

  if (missing.length > 0 && IN_CI) {
    await cleanUp();
    throw new Error(`CI skips no test, and this is missing: ${missing.join(', ')}`);
  }
  return async () => {
    await cleanUp();
    if (missing.length > 0) process.stdout.write(`\nSKIPPED: every test that needs ${missing.join(' or ')}\n`);
  };
};

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readText } from '../support/checkout/repository.ts';
import { type RunningService, runService } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

/** The shell blocks below a heading of the README. */
const shellBlocks = (heading: string): string[] => {
  const [, section = ''] = readText('README.md').split(`## ${heading}\n`);
  return [...(section.split('\n## ')[0] ?? '').matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
};

describe('the curl examples of the README', () => {
  const data = temporaryDirectory();
  const here = temporaryDirectory();
  let service: RunningService;
  beforeAll(async () => {
    service = await runService({ DATA_DIR: data.path });
  });
  afterAll(async () => {
    await service.stop();
    data.remove();
    here.remove();
  });

  it('register, log in, read a protected route, refresh, read the catalog and log out, and leave no file', () => {
    const blocks = ['export TMPDIR="$PWD"', ...shellBlocks('Try it with curl')];
    const script = blocks.join('\necho\n').replaceAll('http://localhost:3000', service.url);
    const { stdout, status } = spawnSync('sh', ['-ec', script], { cwd: here.path, encoding: 'utf8' });
    expect(status).toBe(0);
    const responses = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const ada = { username: 'ada', email: 'ada@example.org' };
    expect(responses).toMatchObject([
      { success: true, data: { user: ada, accessToken: expect.any(String) } },
      { success: true, data: ada, context: { user: { username: 'ada' } } },
      { success: true, data: { accessToken: expect.any(String) } },
      { success: true, data: { code: 'AUTH_USER_DUPLICATE' } },
      { success: true, data: null },
    ]);
    expect(readdirSync(here.path)).toEqual([]);
  });
});

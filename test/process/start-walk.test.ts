import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { readText } from '../support/checkout/repository.ts';
import { documentedProxy } from '../support/openapi/documented-proxy.ts';
import { runInMemory } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

/** The shell blocks below a heading. */
const shellBlocks = (heading: string): string[] => {
  const [, section = ''] = readText('docs/start.md').split(`## ${heading}\n`);
  return [...(section.split('\n## ')[0] ?? '').matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
};

const data = temporaryDirectory();
const here = temporaryDirectory();
const service = await runInMemory({ DATA_DIR: data.path });

it('the curl examples of docs/start.md register, log in, read a protected route, refresh, read the catalog and log out, and leave no file', async () => {
  const proxy = await documentedProxy(service.url);
  const blocks = ['export TMPDIR="$PWD"', ...shellBlocks('With curl')];
  const script = blocks.join('\necho\n').replaceAll('http://localhost:3000', proxy.url);
  const { stdout } = await promisify(execFile)('sh', ['-ec', script], { cwd: here.path });
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
  expect(proxy).toMatchObject({ deviations: [], documented: { length: responses.length + 1 } });
  expect(readdirSync(here.path)).toEqual([]);
});

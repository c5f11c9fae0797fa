import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as source from '../../client/src/index.ts';
import { ROOT, readText } from '../support/checkout/repository.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const directory = temporaryDirectory();
afterAll(directory.remove);

const run = (tool: string, args: readonly string[], cwd: string) => {
  const { status, stdout, stderr } = spawnSync(join(ROOT, 'node_modules/.bin', tool), args, { cwd, encoding: 'utf8' });
  return { status, output: stdout + stderr };
};

describe('client/dist/client.js', () => {
  it('is what `npm run client` makes of the source', () => {
    const file = join(directory.path, 'built.js');
    expect(run('rolldown', ['-c', '-o', file], join(ROOT, 'client')).status).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(readText('client/dist/client.js'));
  });

  it('has at most 3 KiB, compressed', () => {
    expect(gzipSync(readText('client/dist/client.js'), { level: 9 }).length).toBeLessThanOrEqual(3 * 1024);
  });

  it('imports nothing', () => {
    expect(readText('client/dist/client.js')).not.toMatch(/\bimport\b|\brequire\b/);
  });
});

describe('the package tandem-client', () => {
  const project = join(directory.path, 'project');
  const installed = join(project, 'node_modules/tandem-client');

  beforeAll(() => {
    mkdirSync(join(installed, 'dist'), { recursive: true });
    cpSync(join(ROOT, 'client/package.json'), join(installed, 'package.json'));
    cpSync(join(ROOT, 'client/dist/client.js'), join(installed, 'dist/client.js'));
    const types = join(installed, 'dist/types');
    expect(run('tsc', ['-p', 'tsconfig.build.json', '--outDir', types], join(ROOT, 'client'))).toMatchObject({
      status: 0,
    });
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  });

  const compile = (code: string) => {
    writeFileSync(join(project, 'page.ts'), `import { AuthError, createAuthClient } from 'tandem-client';\n${code}`);
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom'];
    return run('tsc', [...options, '--types', '', 'page.ts'], project);
  };
  const CLIENT = `const auth = createAuthClient({ baseUrl: 'https://auth.example.com' });`;

  it('has no dependency', () => {
    expect(JSON.parse(readText('client/package.json'))).not.toHaveProperty('dependencies');
    expect(readdirSync(installed).sort()).toEqual(['dist', 'package.json']);
  });

  it('compiles in a program that uses it', () => {
    const code = `${CLIENT}
      const user: { username: string } = await auth.login({ account: 'ada', password: 'x' });
      auth.onChange((now, why) => { const reason: 'login' | 'refresh' | 'logout' | 'ended' = why; void [now?.email, reason]; });
      try { await auth.logout(); } catch (error) {
        if (error instanceof AuthError && error.code === 'CLIENT_NETWORK_OFFLINE') void [error.retryAfter, user];
      }`;
    expect(compile(code)).toEqual({ status: 0, output: '' });
  });

  it.each([
    ['a field that does not exist', `${CLIENT} await auth.login({ email: 'ada', password: 'x' });`],
    [
      'a code that does not exist',
      `${CLIENT} if (new AuthError('AUTH_FAILED', '').code === 'AUTH_FAILURE') void auth;`,
    ],
  ])('does not compile with %s', (_title, code) => {
    expect(compile(code).status).not.toBe(0);
  });

  it('runs in Node', async () => {
    const built = await import(pathToFileURL(join(installed, 'dist/client.js')).href);
    expect(built.createAuthClient({ baseUrl: 'http://127.0.0.1:1' }).user).toBeNull();
  });

  it('has all members under their names, though internal names are shortened', async () => {
    const built = await import(pathToFileURL(join(installed, 'dist/client.js')).href);
    const [ofBuilt, ofSource] = [built, source].map(({ AuthError, createAuthClient }) => {
      const auth = createAuthClient({ baseUrl: 'http://127.0.0.1:1' });
      return [auth, auth.sessions, new AuthError('AUTH_FAILED', '')].map((each) => Object.keys(each).sort());
    });
    expect(ofBuilt).toEqual(ofSource);
  });
});

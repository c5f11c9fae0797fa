import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { createAccountClient } from '../../client/src/account.ts';
import * as source from '../../client/src/index.ts';
import { createPasskeyClient } from '../../client/src/passkeys.ts';
import { createServerAuth } from '../../client/src/server.ts';
import { ROOT, readText } from '../support/checkout/repository.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const directory = temporaryDirectory();

const run = (tool: string, args: readonly string[], cwd: string) => {
  const { status, stdout, stderr } = spawnSync(join(ROOT, 'node_modules/.bin', tool), args, { cwd, encoding: 'utf8' });
  return { status, output: stdout + stderr };
};

const FILES = [
  ...['client.js', 'client-account.js', 'client-passkeys.js', 'device-key.js', 'user-pages.js'],
  ...['react.js', 'server.js', 'svelte.js', 'testing.js', 'vue.js'],
];
const importsOf = (file: string) =>
  [...readText(`client/dist/${file}`).matchAll(/\b(?:import|from|require)\b[\s(]*["'`]([^"'`]+)/g)].map(
    ([, from]) => from,
  );

describe('client/dist', () => {
  it('is what `npm run client` makes of the source', () => {
    cpSync(join(ROOT, 'client/src'), join(directory.path, 'src'), { recursive: true });
    cpSync(join(ROOT, 'client/rolldown.config.ts'), join(directory.path, 'rolldown.config.ts'));
    symlinkSync(join(ROOT, 'node_modules'), join(directory.path, 'node_modules'));
    expect(run('rolldown', ['-c'], directory.path).status).toBe(0);
    for (const file of FILES)
      expect(readFileSync(join(directory.path, 'dist', file), 'utf8')).toBe(readText(`client/dist/${file}`));
  });

  it.each([
    ['client.js', 5.2],
    ['client-account.js', 1.5],
    ['client-passkeys.js', 2],
    ['device-key.js', 1.5],
    ['user-pages.js', 5.8],
    ['react.js', 0.25],
    ['svelte.js', 0.25],
    ['vue.js', 0.25],
  ])('%s has at most %f KiB, compressed', (file, size) => {
    expect(gzipSync(readText(`client/dist/${file}`), { level: 9 }).length).toBeLessThanOrEqual(size * 1024);
  });

  it('client.js imports nothing', () => {
    expect(readText('client/dist/client.js')).not.toMatch(/\bimport\b|\brequire\b/);
  });

  it('device-key.js imports nothing, and can be put into a page', () => {
    expect(readText('client/dist/device-key.js')).not.toMatch(/\bimport\b(?!\.meta)|\brequire\b|<\/script|<!--/i);
  });

  it.each([
    ['client-account.js', ['./client.js']],
    ['client-passkeys.js', ['./client.js']],
    ['server.js', ['./client.js', 'jose']],
    ['testing.js', ['./client.js']],
    ['react.js', ['react']],
    ['svelte.js', ['svelte/store']],
    ['vue.js', ['vue']],
  ])('%s imports %j', (file, imports) => {
    expect(importsOf(file)).toEqual(imports);
  });
});

describe('the package tandem-client', () => {
  const project = join(directory.path, 'project');
  const installed = join(project, 'node_modules/tandem-client');

  beforeAll(() => {
    mkdirSync(join(installed, 'dist'), { recursive: true });
    cpSync(join(ROOT, 'client/package.json'), join(installed, 'package.json'));
    for (const file of FILES) cpSync(join(ROOT, 'client/dist', file), join(installed, 'dist', file));
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
    symlinkSync(join(ROOT, 'node_modules/jose'), join(project, 'node_modules/jose'));
  });

  it('has one dependency, in the version of the service: that of the module for servers', () => {
    const { jose } = JSON.parse(readText('package.json')).dependencies;
    expect(JSON.parse(readText('client/package.json')).dependencies).toEqual({ jose });
    expect(readdirSync(installed).sort()).toEqual(['dist', 'package.json']);
  });

  const baseUrl = 'http://127.0.0.1:1';
  const load = (file: string) => import(pathToFileURL(join(installed, 'dist', file)).href);

  it('runs in Node', async () => {
    expect((await load('client.js')).createAuthClient({ baseUrl }).user).toBeNull();
  });

  it.each([
    ['client-account.js', 'createAccountClient', createAccountClient],
    ['client-passkeys.js', 'createPasskeyClient', createPasskeyClient],
    ['server.js', 'createServerAuth', createServerAuth],
  ] as const)('has %s with all calls, which throw the AuthError of the client', async (file, name, ofSource) => {
    const [client, module] = await Promise.all(['client.js', file].map((each) => load(each)));
    const options = { baseUrl, auth: client.createAuthClient({ baseUrl }) };
    const calls = module[name](options);
    expect(Object.keys(calls).sort()).toEqual(Object.keys(ofSource(options)).sort());
    const { exported, list, signedInFetch } = calls;
    const called = (exported ?? list ?? signedInFetch)(new Request('https://app.example.com'), 'https://evil.example');
    await expect(called).rejects.toBeInstanceOf(client.AuthError);
  });

  it('has all members under their names, though internal names are shortened', async () => {
    const built = await load('client.js');
    const [ofBuilt, ofSource] = [built, source].map(({ AuthError, createAuthClient }) => {
      const auth = createAuthClient({ baseUrl });
      return [auth, auth.sessions, new AuthError('AUTH_FAILED', '')].map((each) => Object.keys(each).sort());
    });
    expect(ofBuilt).toEqual(ofSource);
  });
});

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccountClient } from '../../client/src/account.ts';
import * as source from '../../client/src/index.ts';
import { createPasskeyClient } from '../../client/src/passkeys.ts';
import { createServerAuth } from '../../client/src/server.ts';
import { ROOT, readText } from '../support/checkout/repository.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const directory = temporaryDirectory();
afterAll(directory.remove);

const run = (tool: string, args: readonly string[], cwd: string) => {
  const { status, stdout, stderr } = spawnSync(join(ROOT, 'node_modules/.bin', tool), args, { cwd, encoding: 'utf8' });
  return { status, output: stdout + stderr };
};

const FILES = [
  ...['client.js', 'client-account.js', 'client-passkeys.js', 'account-page.js', 'device-key.js'],
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
    ['client.js', 4.5],
    ['client-account.js', 1.5],
    ['client-passkeys.js', 2],
    ['device-key.js', 1.5],
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
    ['account-page.js', ['./client-account.js']],
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
    const types = join(installed, 'dist/types');
    expect(run('tsc', ['-p', 'tsconfig.build.json', '--outDir', types], join(ROOT, 'client'))).toMatchObject({
      status: 0,
    });
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
    symlinkSync(join(ROOT, 'node_modules/jose'), join(project, 'node_modules/jose'));
  });

  const compile = (code: string) => {
    writeFileSync(
      join(project, 'page.ts'),
      `import { AuthError, createAuthClient } from 'tandem-client';
      import { createAccountClient } from 'tandem-client/account';
      import { createPasskeyClient } from 'tandem-client/passkeys';
      import { createServerAuth } from 'tandem-client/server';\n${code}`,
    );
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom'];
    return run('tsc', [...options, '--types', '', 'page.ts'], project);
  };
  const CLIENT = `const auth = createAuthClient({ baseUrl: 'https://auth.example.com' });`;

  it('has one dependency, in the version of the service: that of the module for servers', () => {
    const { jose } = JSON.parse(readText('package.json')).dependencies;
    expect(JSON.parse(readText('client/package.json')).dependencies).toEqual({ jose });
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

  it('compiles in a program that uses its account module', () => {
    const code = `${CLIENT}
      const account = createAccountClient({ baseUrl: 'https://auth.example.com', fetch: auth.fetch });
      const { events, next } = await account.events({ limit: 10 });
      const address: string | null = events[0]?.kind === 'logged-in' ? events[0].address : next;
      try { await account.resetPassword({ token: 'x', newPassword: 'y' }); } catch (error) {
        if (error instanceof AuthError) void [error.fields[0]?.message, address];
      }`;
    expect(compile(code)).toEqual({ status: 0, output: '' });
  });

  it('compiles in a program that uses its module of passkeys', () => {
    const code = `${CLIENT}
      const passkeys = createPasskeyClient({ baseUrl: 'https://auth.example.com', auth });
      const user: { username: string } | null = await passkeys.logInWithPasskey({ autofill: true });
      const names: string[] = (await passkeys.list()).map(({ name }) => name);
      try { await passkeys.add({ name: 'Key ring' }); } catch (error) {
        if (error instanceof AuthError && error.code === 'CLIENT_PASSKEY_REFUSED') void [user, names];
      }`;
    expect(compile(code)).toEqual({ status: 0, output: '' });
  });

  it('compiles in a server that uses its module for servers', () => {
    const code = `const auth = createServerAuth({ baseUrl: 'https://auth.example.com', issuer: undefined });
      const page = async (request: Request): Promise<Response> => {
        const user = await auth.requireUser(request, { loginPage: '/login' });
        if (user instanceof Response) return user;
        const name: string = user.username;
        const email: string | undefined = (await auth.getUser(request))?.email;
        return auth.signedInFetch(request, 'https://api.example.com', { headers: { name, email: email ?? '' } });
      };
      void page;`;
    expect(compile(code)).toEqual({ status: 0, output: '' });
  });

  it.each([
    [
      'a user that may be a response',
      `createServerAuth({ baseUrl: '' }).requireUser(new Request('')).then((user) => user.username);`,
    ],
    ['a field that does not exist', `${CLIENT} await auth.login({ email: 'ada', password: 'x' });`],
    [
      'a code that does not exist',
      `${CLIENT} if (new AuthError('AUTH_FAILED', '').code === 'AUTH_FAILURE') void auth;`,
    ],
    ['a call that does not exist', `void createAccountClient({ baseUrl: '' }).rename('ada');`],
  ])('does not compile with %s', (_title, code) => {
    expect(compile(code).status).not.toBe(0);
  });

  it('runs in Node', async () => {
    const built = await import(pathToFileURL(join(installed, 'dist/client.js')).href);
    expect(built.createAuthClient({ baseUrl: 'http://127.0.0.1:1' }).user).toBeNull();
  });

  it('has an account module, which throws the AuthError of the client', async () => {
    const [client, account] = await Promise.all(
      ['client.js', 'client-account.js'].map((file) => import(pathToFileURL(join(installed, 'dist', file)).href)),
    );
    const calls = account.createAccountClient({ baseUrl: 'http://127.0.0.1:1' });
    expect(Object.keys(calls).sort()).toEqual(Object.keys(createAccountClient({ baseUrl: 'http://x' })).sort());
    await expect(calls.exported()).rejects.toBeInstanceOf(client.AuthError);
  });

  it('has a module of passkeys, which throws the AuthError of the client', async () => {
    const [client, module] = await Promise.all(
      ['client.js', 'client-passkeys.js'].map((file) => import(pathToFileURL(join(installed, 'dist', file)).href)),
    );
    const baseUrl = 'http://127.0.0.1:1';
    const calls = module.createPasskeyClient({ baseUrl, auth: client.createAuthClient({ baseUrl }) });
    const auth = source.createAuthClient({ baseUrl });
    expect(Object.keys(calls).sort()).toEqual(Object.keys(createPasskeyClient({ baseUrl, auth })).sort());
    await expect(calls.list()).rejects.toBeInstanceOf(client.AuthError);
  });

  it('has a module for servers, which throws the AuthError of the client', async () => {
    const [client, module] = await Promise.all(
      ['client.js', 'server.js'].map((file) => import(pathToFileURL(join(installed, 'dist', file)).href)),
    );
    const options = { baseUrl: 'http://127.0.0.1:1' };
    const auth = module.createServerAuth(options);
    expect(Object.keys(auth).sort()).toEqual(Object.keys(createServerAuth(options)).sort());
    const refused = auth.signedInFetch(new Request('https://app.example.com'), 'https://evil.example');
    await expect(refused).rejects.toBeInstanceOf(client.AuthError);
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

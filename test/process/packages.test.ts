import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { codeBelow, runCode } from '../support/checkout/documented-code.ts';
import { ROOT, readText } from '../support/checkout/repository.ts';
import { aPerson } from '../support/http/service.ts';
import { DEVELOPMENT } from '../support/processes/environments.ts';
import { install, npmProject, versionsOf } from '../support/processes/npm-project.ts';
import { runService } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

/** Copies the files of the checkout that git knows or would add, with a link to its packages. */
const copyCheckout = (directory: string): void => {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' });
  for (const file of files.trim().split('\n'))
    if (existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(directory, file));
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
};

const checkout = temporaryDirectory();
const archives = temporaryDirectory();
const outside = temporaryDirectory();

/** The last release that finds modules as by node10, and the one of Next.js for which docs/server-rendering.md is. */
const OTHERS = { typescript: '6.0.3', next: '16.4.6' };
/** Those of this checkout, to which links lead. */
const LINKED = ['@types/koa', '@types/node', '@types/react', '@types/react-dom', 'svelte', 'vitest', 'vue'];
const { version } = JSON.parse(readText('package.json'));
/** The commit that is packed. */
const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const project = npmProject(outside.path);

let service: readonly string[];
let client: readonly string[];

beforeAll(async () => {
  copyCheckout(checkout.path);
  mkdirSync(join(checkout.path, '.git'), { recursive: true });
  writeFileSync(join(checkout.path, '.git/HEAD'), `${COMMIT}\n`);
  await npmProject(checkout.path).run('npm', 'pack', '.', './client', '--pack-destination', archives.path);
  const listed = async (name: string): Promise<string[]> => {
    const files = await npmProject(archives.path).run('tar', '-tzf', `${archives.path}/${name}-${version}.tgz`);
    return files
      .trim()
      .split('\n')
      .map((file) => file.replace('package/', ''));
  };
  service = await listed('tandem');
  client = await listed('tandem-client');
  // Next.js has compilers, of which its declarations are all that is needed.
  project.write('.npmrc', 'omit=optional');
  await install(project, {
    tandem: `file:${archives.path}/tandem-${version}.tgz`,
    'tandem-client': `file:${archives.path}/tandem-client-${version}.tgz`,
    ...versionsOf('pg', 'react', 'react-dom'),
    ...OTHERS,
  });
  for (const name of LINKED) {
    const link = join(project.path, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), link);
  }
  cpSync(join(ROOT, 'examples/own-store'), join(project.path, 'storage'), { recursive: true });
});

/** Runs a program of this checkout. */
const run = (program: string, ...args: string[]) => project.run(join(ROOT, 'node_modules/.bin', program), ...args);
/** Takes a quarter of the time that the release of JavaScript does. */
const compile = (directory: string) => run('tsc', '-p', directory, '--checkers', '1');
const inProject = ['bash', '-c', 'cd "$0"; exec "$@"', project.path];
/** Runs the program of the package with the Node.js of the next argument, in place of the program that follows. */
const npx = ['bash', '-c', 'cd "$0"; PATH="$(dirname "$1"):$PATH" exec npx --no -- tandem', project.path];

const signUp = async (url: string) => {
  const person = aPerson();
  const post = (path: string, body: object) =>
    fetch(url + path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  expect((await post('/auth/register', person)).status).toBe(201);
  const { username, password } = person;
  expect((await post('/auth/login', { account: username, password })).status).toBe(200);
  return person;
};

const MODULES = [
  ...['client', 'client-account', 'client-passkeys'],
  ...['react', 'server', 'svelte', 'testing', 'vue'],
];

describe('the archives', () => {
  it('leave the checkout as it was', () => {
    for (const file of ['package.json', 'client/package.json', 'client/dist/client.js'])
      expect(readFileSync(join(checkout.path, file), 'utf8')).toBe(readText(file));
  });

  it('have what is needed: JavaScript, types, and what the service sends', () => {
    for (const file of [
      'dist/src/index.js',
      'dist/src/index.d.ts',
      'dist/test/contracts/index.js',
      'README.md',
      'LICENSE',
    ])
      expect(service).toContain(file);
    const OF_SERVICE =
      /^(?:LICENSE|README\.md|package\.json|dist\/(?:package\.json|(?:src|test\/contracts|test\/support)\/.*))$/;
    const sent = service.filter((file) => !OF_SERVICE.test(file));
    expect(sent.filter((file) => !/^dist\/(?:client\/dist|console\/page)\/[\w.-]+$/.test(file))).toEqual([]);
    expect(client.toSorted()).toEqual(
      [
        ...['LICENSE', 'README.md', 'package.json'],
        'dist/cjs/package.json',
        ...['dist', 'dist/cjs'].flatMap((directory) =>
          MODULES.flatMap((name) => [`${directory}/${name}.js`, `${directory}/${name}.js.map`]),
        ),
        ...client.filter((file) => /^dist\/(?:cjs\/)?types\/[\w-]+\.d\.ts$/.test(file)),
      ].toSorted(),
    );
  });

  it('have no sources and no tests but the contracts', () => {
    const files = [...service, ...client.filter((file) => !file.endsWith('.js.map'))];
    expect(files.filter((file) => /(?<!\.d)\.tsx?$|\.test\.|\.map$/.test(file))).toEqual([]);
  });

  it('say which Node.js they need, and lead the browser tools from the minified client to its source', () => {
    const installed = join(project.path, 'node_modules/tandem-client');
    const { engines } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    expect(engines).toEqual(JSON.parse(readText('package.json')).engines);
    expect(readFileSync(join(installed, 'dist/client.js'), 'utf8')).toMatch(
      /^\/\/# sourceMappingURL=client\.js\.map$/m,
    );
    const { sources, sourcesContent } = JSON.parse(readFileSync(join(installed, 'dist/client.js.map'), 'utf8'));
    expect(sourcesContent[sources.indexOf('../src/session.ts')]).toBe(readText('client/src/session.ts'));
  });
});

it('npx tandem starts the service, which sends all it has and keeps its data in .data, and runs the commands', async () => {
  const running = await runService({ HOME: project.path }, npx);
  // npx does not hand on SIGTERM to the program; a terminal sends Ctrl-C to both.
  const { pid, revision }: { readonly pid: number; readonly revision: string } = JSON.parse(running.stdout[0] ?? '');
  expect(revision).toBe(COMMIT);
  onTestFinished(() => {
    if (running.child.exitCode !== 0) process.kill(pid, 'SIGKILL');
  });
  const { username } = await signUp(running.url);
  const { paths } = JSON.parse(await (await fetch(`${running.url}/openapi.json`)).text());
  for (const path of Object.keys(paths).filter((path) => 'get' in paths[path] && !path.includes('{')))
    expect([200, 303, 401], path).toContain((await fetch(running.url + path, { redirect: 'manual' })).status);
  process.kill(pid, 'SIGTERM');
  expect(await running.outcome).toMatchObject({ code: 0 });
  expect(readdirSync(join(project.path, '.data')).sort()).toEqual(expect.arrayContaining(['database.sqlite', 'keys']));

  const help = await project.run('npx', '--no', '--', 'tandem', 'users', '--help');
  expect(help).toMatch(/^npx tandem users find USER /);
  const tandem = (...args: string[]) => project.runInstalled('tandem', ...args);
  expect(await tandem('users', 'find', username)).toContain(username);
  expect(await tandem('keys', 'generate')).toContain('JWT_ACCESS_PRIVATE_KEY');
  expect(await tandem('templates', '--locale', 'de')).toContain('pages and mails in de');
  expect(await tandem('migrate')).toBe('');
  expect(JSON.parse(await tandem('doctor', '--json'))).toMatchObject({ counts: { problem: 0 } });
  await tandem('data', 'backup', 'backup.tar');
  expect(existsSync(join(project.path, 'backup.tar'))).toBe(true);
  expect(readdirSync(join(project.path, 'node_modules/.cache/tandem/compile'))).not.toEqual([]);
});

describe("import { serve } from 'tandem'", () => {
  it('compiles with stores of one’s own', async () => {
    const compilerOptions = {
      ...{ module: 'nodenext', target: 'es2024', strict: true, noEmit: true },
      ...{ allowImportingTsExtensions: true, types: ['node'] },
    };
    project.write('storage/tsconfig.json', JSON.stringify({ compilerOptions }));
    expect(await compile('storage')).toBe('');
  });
});

it('the example of a table and routes of one’s own runs from the packages, in at most 60 lines that compile', async () => {
  const program = readText('examples/own-route/main.ts');
  expect(program.split('\n').length - 1).toBeLessThanOrEqual(60);
  project.write('own-route/main.ts', program);
  const compilerOptions = { module: 'nodenext', target: 'es2024', strict: true, noEmit: true, types: ['node'] };
  project.write(
    'own-route/tsconfig.json',
    JSON.stringify({ compilerOptions: { ...compilerOptions, skipLibCheck: true } }),
  );
  expect(await compile('own-route')).toBe('');
  const running = await runService({ ...DEVELOPMENT, DATA_DIR: 'data-of-shop' }, inProject, 'own-route/main.ts');
  const [sample = ''] = codeBelow('examples/own-route/README.md', 'A table and two routes of your own', 'js');
  const log = vi.fn();
  const lines = sample.replace('http://localhost:3000', running.url);
  const { post, data: ada } = await runCode(lines, { console: { log } }, 'post', 'data');
  const [[{ data: order }]] = log.mock.calls as [[{ readonly data: { readonly id: string } }]];
  expect(order).toMatchObject({ title: 'A lamp' });
  const { data: other } = await post('/auth/register', aPerson());
  const read = async ({ accessToken }: { readonly accessToken: string }) => {
    const headers = { Authorization: `Bearer ${accessToken}` };
    return (await fetch(`${running.url}/orders/${order.id}`, { headers })).json();
  };
  expect(await read(ada)).toMatchObject({ data: order });
  expect(await read(other)).toMatchObject({ success: false, code: 'SHOP_ORDER_NOT_FOUND' });
  expect(await running.stop()).toEqual({ code: 0, signal: null });
});

it('tests in vitest are contracts over a store of one’s own, in a thread of its own, and the documented one of an application', async () => {
  project.write(
    'tests/open.ts',
    `
      import { memoryStorage } from 'tandem';
      export const open = () => memoryStorage().users;`,
  );
  project.write(
    'tests/users.test.ts',
    `
      import type { UserRepository } from 'tandem';
      import { absent, describeUserRepository, inThread } from 'tandem/contracts';

      describeUserRepository('users in a thread', async () => {
        const { port, close } = await inThread<UserRepository>(new URL('./open.ts', import.meta.url), null);
        return { storage: { users: port }, another: absent('not shared'), failing: absent('does not fail'), close };
      });`,
  );
  const [sample = ''] = codeBelow('client/README.md', 'Tests of an application', 'js');
  // As Jest does it: the modules are those of CommonJS, and its environment jsdom lacks what a browser has.
  project.write(
    'tests/application.test.js',
    `
      import { createRequire } from 'node:module';
      const require = createRequire(import.meta.url);
      for (const name of ['fetch', 'Request', 'Response', 'TextEncoder', 'BroadcastChannel']) delete globalThis[name];
      ${sample}
      const { createAuthClient } = require('tandem-client');
      test('makes a client', () => expect(createAuthClient({ baseUrl: 'http://127.0.0.1:1' }).user).toBeNull());`,
  );
  const how = ['--root', 'tests', '--globals', '--reporter', 'json', '--outputFile', 'report.json'];
  const outcome = await run('vitest', 'run', ...how).catch((error: Error) => error.message);
  const report = JSON.parse(readFileSync(join(project.path, 'tests/report.json'), 'utf8'));
  expect(report, JSON.stringify(report)).toMatchObject({ success: true, numFailedTests: 0 });
  expect(report.numPassedTests, outcome).toBeGreaterThan(12);
});

describe('tandem-client', () => {
  const options = (more: object) =>
    JSON.stringify({
      compilerOptions: {
        ...{
          module: 'esnext',
          moduleResolution: 'bundler',
          target: 'es2022',
          lib: ['es2022', 'dom', 'dom.iterable'],
          types: [],
        },
        ...{ strict: true, skipLibCheck: false, noEmit: true, allowImportingTsExtensions: true },
        ...more,
      },
      include: ['.'],
    });
  const IN_WRONG = expect.stringMatching(/\bWrong\.\w+\b.*'nickname'/);
  /** The lines about errors that a compiler prints. */
  const errorsOf = (directory: string, compiling = compile(directory)): Promise<string[]> =>
    compiling.then(
      () => [],
      ({ message }: Error) => message.split('\n').filter((line) => /\berror\b/.test(line)),
    );

  it('type-checks with all of its modules, strictly and with its declarations, and in a component of React, as documented', async () => {
    project.write(
      'plain/tsconfig.json',
      options({ module: 'nodenext', moduleResolution: 'nodenext', jsx: 'react-jsx' }),
    );
    const page = `
      import { AuthError, createAuthClient } from 'tandem-client';
      import { createAccountClient } from 'tandem-client/account';
      import { createPasskeyClient } from 'tandem-client/passkeys';
      import { createServerAuth } from 'tandem-client/server';
      import { useAuth as useInSvelte } from 'tandem-client/svelte';
      import { useAuth as useInVue } from 'tandem-client/vue';

      const baseUrl = 'https://auth.example.com';
      const auth = createAuthClient({ baseUrl });
      export const modules = [createAccountClient({ baseUrl }), createPasskeyClient({ baseUrl, auth }), createServerAuth({ baseUrl }), AuthError];
      export const inVue: string | undefined = useInVue(auth).value?.username;
      export const inSvelte: () => void = useInSvelte(auth).subscribe((user) => void user?.username);`;
    const [component = ''] = codeBelow('docs/browser.md', 'In React, Vue and Svelte', 'tsx');
    const [auth = ''] = codeBelow('docs/browser.md', 'In React, Vue and Svelte', 'ts');
    project.write('plain/auth.ts', auth);
    for (const [name, text] of [
      ['page.ts', page],
      ['Account.tsx', component],
    ] as const) {
      project.write(`plain/${name}`, text);
      project.write(`plain/Wrong.${name}`, text.replace(/(?<=(?:user|value)\??)\.username/g, '.nickname'));
    }
    expect(await errorsOf('plain')).toEqual([IN_WRONG, IN_WRONG, IN_WRONG]);
  });

  it.each([
    ['node10', { module: 'commonjs', moduleResolution: 'node10', ignoreDeprecations: '6.0' }],
    ['node16 from CommonJS', { module: 'node16', moduleResolution: 'node16' }],
    ['bundler', {}],
  ])('type-checks with exactOptionalPropertyTypes, and modules found as by %s', async (title, more) => {
    const directory = `resolved/${title.replaceAll(' ', '-')}`;
    project.write(`${directory}/package.json`, '{ "type": "commonjs" }');
    project.write(`${directory}/tsconfig.json`, options({ exactOptionalPropertyTypes: true, ...more }));
    const page = `
      import { AuthError, createAuthClient, type AuthClientOptions } from 'tandem-client';
      import { createAccountClient, createPendingLoginClient } from 'tandem-client/account';
      import { createPasskeyClient } from 'tandem-client/passkeys';
      import { createServerAuth } from 'tandem-client/server';
      import { createFakeAuthClient } from 'tandem-client/testing';

      const baseUrl = 'https://auth.example.com';
      const options: AuthClientOptions = { baseUrl, origins: undefined, fetch: undefined, ignoreHint: undefined, onStepUp: undefined };
      const auth = createAuthClient(options);
      export const modules = [
        createAccountClient({ baseUrl, fetch: undefined }), createPasskeyClient({ baseUrl, auth }), createServerAuth({ baseUrl, fetch: undefined }),
        createPendingLoginClient({ baseUrl, auth: createFakeAuthClient({ user: undefined, onStepUp: undefined }) }), AuthError,
      ];
      export const name: string | undefined = auth.user?.username;`;
    project.write(`${directory}/page.ts`, page);
    project.write(`${directory}/Wrong.ts`, page.replace('user?.username', 'user?.nickname'));
    const compiling = title === 'node10' ? project.runInstalled('tsc', '-p', directory) : undefined;
    expect(await errorsOf(directory, compiling)).toEqual([IN_WRONG]);
  });

  it('can be loaded by require', async () => {
    const names = ['', '/account', '/passkeys', '/server', '/testing', '/react', '/svelte', '/vue'];
    project.write('required/package.json', '{ "type": "commonjs" }');
    project.write(
      'required/main.js',
      `const { AuthError } = require('tandem-client');
      const { createAccountClient } = require('tandem-client/account');
      const loaded = ${JSON.stringify(names)}.map((name) => Object.keys(require('tandem-client' + name)));
      createAccountClient({ baseUrl: 'http://127.0.0.1:1' }).me().catch((error) => {
        console.log(JSON.stringify({ loaded, same: error instanceof AuthError }));
      });`,
    );
    const { loaded, same } = JSON.parse(await project.run('node', 'required/main.js'));
    expect(same).toBe(true);
    expect(loaded.map((exported: string[]) => exported.length)).toEqual([2, 2, 1, 2, 1, 1, 1, 1]);
  });

  it('type-checks in the files that are documented for Next.js', async () => {
    const code = (language: string) =>
      codeBelow('docs/server-rendering.md', 'Pages that are rendered on a server', language);
    const files = [...code('ts'), ...code('tsx')].flatMap((text) => {
      const [, name] = /^\/\/ (\S+)\n/.exec(text) ?? [];
      return name === undefined ? [] : [[name, text] as const];
    });
    expect(files.map(([name]) => name)).toEqual(['auth.ts', 'proxy.ts', 'app/account/page.tsx']);
    for (const [name, text] of files) project.write(`next/${name}`, text);
    project.write('next/tsconfig.json', options({ jsx: 'react-jsx', types: ['node'], skipLibCheck: true }));
    expect(await compile('next')).toBe('');
  });
});

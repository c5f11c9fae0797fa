import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Everything that a service over PostgreSQL imports at its start. */
const STARTED = ['commands/run', 'serve', 'compose', 'open-sql'].map((each) => `src/infrastructure/${each}.ts`);

/** Prints the address of each module that is loaded. */
const programOf = (paths: readonly string[]): string => `
  import { registerHooks } from 'node:module';
  registerHooks({ load: (url, context, next) => { console.log(url); return next(url, context); } });
  for (const path of ${JSON.stringify(paths)}) await import(new URL(path, 'file://' + process.cwd() + '/'));
  for (const name of process.moduleLoadList) console.log(name);
`;
const loadedBy = async (paths: readonly string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', programOf(paths)])).stdout;
const loadedAtStart = (): Promise<string> => loadedBy([...STARTED, 'node_modules/pg/esm/index.mjs']);

it('a start loads no package that only some services, or later requests, use', async () => {
  const stdout = await loadedAtStart();
  const packages = new Set(stdout.split('\n').map((url) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]));
  expect([...packages]).toEqual(expect.arrayContaining(['kysely', 'pg']));
  const unneeded = [
    // For tables that are missing or outdated.
    ...['@mikro-orm/core', '@mikro-orm/mariadb', '@mikro-orm/mysql', '@mikro-orm/postgresql', '@mikro-orm/sql'],
    ...['@opentelemetry/api', '@opentelemetry/sdk-trace', '@simplewebauthn/server', '@zxcvbn-ts/language-common'],
    ...['bowser', 'ioredis', 'nodemailer', 'openid-client', 'piscina', 'prom-client'],
  ];
  expect(unneeded.filter((name) => packages.has(name))).toEqual([]);
  // Part of Node.js, and loaded by whatever imports `node:http` by its name.
  expect(stdout).toContain('NativeModule http\n');
  expect(stdout).not.toContain('undici');
  // Of jose, only what exports keys and names them.
  expect(stdout).not.toContain('/jwt/');
});

it('what records spans loads no exporter before it knows the protocol', async () => {
  const stdout = await loadedBy(['src/adapters/tracing/open-telemetry.ts']);
  expect(stdout).toContain('/@opentelemetry/sdk-trace/');
  expect(stdout).not.toContain('/@opentelemetry/exporter-');
});

it('a start loads neither pages, mail templates and the OpenAPI document, nor other commands and storages', async () => {
  const stdout = await loadedAtStart();
  for (const needed of [
    'adapters/http/routes/service/pages',
    'application/mail/send-messages',
    'infrastructure/open-sql',
  ])
    expect(stdout).toContain(`/${needed}.ts`);
  expect(stdout).not.toMatch(/\/src\/adapters\/http\/(pages|openapi)\//);
  expect(stdout).not.toMatch(/\/src\/application\/mail\/(?:write-mail|mail-of-message|check-templates)/);
  expect(stdout).not.toMatch(/\/src\/adapters\/mailer\//);
  expect(stdout).not.toMatch(/\/src\/infrastructure\/commands\/(keys|users|data|doctor|mail)/);
});

it('the compile cache is filled with everything of ours that a start loads', async () => {
  const [started, filled] = await Promise.all([
    loadedAtStart(),
    loadedBy(['src/infrastructure/fill-compile-cache.js']),
  ]);
  const own = started.split('\n').filter((url) => url.includes('/src/'));
  expect(own).not.toEqual([]);
  expect(own.filter((url) => !filled.includes(url))).toEqual([]);
});

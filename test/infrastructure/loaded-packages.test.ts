import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Everything that a service over PostgreSQL imports at its start. */
const STARTED = ['commands/run', 'compose', 'open-sql'].map((each) => `src/infrastructure/${each}.ts`);

/** Prints the address of each module that is loaded. */
const PROGRAM = `
  import { registerHooks } from 'node:module';
  registerHooks({ load: (url, context, next) => { console.log(url); return next(url, context); } });
  for (const path of ${JSON.stringify(STARTED)}) await import(new URL(path, 'file://' + process.cwd() + '/'));
  await import(new URL('node_modules/pg/esm/index.mjs', 'file://' + process.cwd() + '/'));
  for (const name of process.moduleLoadList) console.log(name);
`;

it('a start loads no package that only some services, or later requests, use', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', PROGRAM]);
  const packages = new Set(stdout.split('\n').map((url) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]));
  expect([...packages]).toEqual(expect.arrayContaining(['kysely', 'pg']));
  const unneeded = [
    // For tables that are missing or outdated.
    '@mikro-orm/core',
    '@mikro-orm/mariadb',
    '@mikro-orm/mysql',
    '@mikro-orm/postgresql',
    '@mikro-orm/sql',
    '@opentelemetry/api',
    '@opentelemetry/sdk-trace',
    '@simplewebauthn/server',
    '@zxcvbn-ts/language-common',
    'bowser',
    'ioredis',
    'nodemailer',
    'openid-client',
    'piscina',
    'prom-client',
  ];
  expect(unneeded.filter((name) => packages.has(name))).toEqual([]);
  // Part of Node.js, and loaded by whatever imports `node:http` by its name.
  expect(stdout).toContain('NativeModule http\n');
  expect(stdout).not.toContain('undici');
  // Of jose, only what exports keys and names them.
  expect(stdout).not.toContain('/jwt/');
});

it('a start loads neither pages, mail templates and the OpenAPI document, nor other commands and storages', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', PROGRAM]);
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

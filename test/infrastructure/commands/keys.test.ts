// Proves ASVS 11.1.1, 11.5.1, 11.6.1; theft-6, operator-5
import { execFileSync } from 'node:child_process';
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { jwks, type KeyPair } from '../../../src/adapters/crypto/token-keys.ts';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { testKeyPair, testKeys } from '../../support/keys.ts';
import { runHere, runSpawned } from '../../support/processes/commands.ts';
import { keyVariables, PRODUCTION } from '../../support/processes/environments.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

type Env = Readonly<Record<string, string | undefined>>;

const keys = (args: readonly string[], env: Env = {}) => runHere(['keys', ...args], env);

const VARIABLES = [
  'JWT_ACCESS_PRIVATE_KEY',
  'JWT_ACCESS_PUBLIC_KEY',
  'JWT_REFRESH_PRIVATE_KEY',
  'JWT_REFRESH_PUBLIC_KEY',
];
const FILES = ['access-private.pem', 'access-public.pem', 'keys.env', 'refresh-private.pem', 'refresh-public.pem'];

/** The key variables in printed text. */
const variablesIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parseEnv(text)).flatMap(([name, value = '']) => (VARIABLES.includes(name) ? [[name, value]] : [])),
  );
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
const same = (keys: readonly KeyObject[], others: readonly KeyObject[]) =>
  keys.length === others.length && keys.every((key, index) => others[index]?.equals(key));

const directory = temporaryDirectory();

it('keys page-server prints an id and a secret, and an entry that the service accepts, without the secret', async () => {
  const { status, stdout, stderr } = await keys(['page-server']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const { PAGE_SERVER_ID: id, PAGE_SERVER_SECRET: secret = '', PAGE_SERVERS = '' } = parseEnv(stdout);
  expect(secret).toMatch(/^[\w-]{43}$/);
  expect(PAGE_SERVERS).not.toContain(secret);
  const secretHash = createHash('sha256').update(secret).digest();
  expect(parseConfig({ PAGE_SERVERS }).pageServers).toEqual([{ id, secretHash }]);
});

it('keys admin prints a private key for a program, and what the service knows of it', async () => {
  const { status, stdout } = await keys(['admin']);
  expect(status).toBe(0);
  const [, pem = '', ADMIN_KEYS = ''] = /^# admin-private\.pem\n(.*)\n# admin-keys\.json\n(.*)$/s.exec(stdout) ?? [];
  const [key] = parseConfig({ ADMIN_PORT: '9470', ADMIN_KEYS }).admin?.keys ?? [];
  expect(key).toMatchObject({ name: 'support', scopes: ['users:read', 'users:write'] });
  expect(key?.publicKey.equals(createPublicKey(pem))).toBe(true);
});

/** The names and values, as programs read them that know neither quotes nor escapes. */
const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);

describe('keys generate', () => {
  let printed: Awaited<ReturnType<typeof keys>>;
  beforeAll(async () => {
    printed = await keys(['generate'], { PORT: 'http', JWT_ACCESS_PRIVATE_KEY: 'none' });
  });

  it('prints two pairs that production accepts, as lines of an environment file', () => {
    expect(printed).toMatchObject({ status: 0, stderr: '' });
    const variables = variablesIn(printed.stdout);
    expect(Object.keys(variables).sort()).toEqual(VARIABLES);
    expect(parseConfig({ ...PRODUCTION, ...variables }).keys).not.toBeNull();
    for (const name of VARIABLES) expect(printed.stdout).toMatch(new RegExp(`^${name}="-----BEGIN [^"\n]+"$`, 'm'));
  });

  it.each<[string, (text: string) => Record<string, string | undefined>]>([
    ['Node', parseEnv],
    ['Docker and kubectl, which keep quotes', (text) => Object.fromEntries(linesOf(text))],
    [
      'a shell',
      (text) => {
        const show = linesOf(text).map(([name]) => `printf '%s\\0' "$${name}"`);
        const shown = execFileSync('bash', ['-c', [text, ...show].join('\n')], { encoding: 'utf8' });
        return Object.fromEntries(linesOf(text).map(([name], index) => [name, shown.split('\0')[index]]));
      },
    ],
  ])('prints lines that are read by %s', (_reader, read) => {
    const lines = printed.stdout.split('\n').filter((line) => line.startsWith('JWT_'));
    const { keys: pairs } = parseConfig({ ...PRODUCTION, ...read(lines.join('\n')) });
    const { keys: expected } = parseConfig(variablesIn(printed.stdout));
    for (const kind of ['access', 'refresh'] as const)
      expect(pairs?.[kind].privateKey.equals(expected?.[kind].privateKey ?? expect.unreachable())).toBe(true);
  });

  it('writes files that only their owner can read, and prints only their names', async () => {
    const out = join(directory.path, 'deep', 'new');
    const { status, stdout, stderr } = await runSpawned(['keys', 'generate', '--out', out]);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout.trim().split('\n').sort()).toEqual(FILES.map((file) => join(out, file)));
    expect(mode(out)).toBe('700');
    expect(readdirSync(out).sort()).toEqual(FILES);
    for (const file of FILES) expect(mode(join(out, file))).toBe('600');

    const { keys: pairs } = parseConfig({ ...PRODUCTION, ...parseEnv(readFileSync(join(out, 'keys.env'), 'utf8')) });
    const pem = readFileSync(join(out, 'refresh-private.pem'), 'utf8');
    expect(pairs?.refresh.privateKey.equals(createPrivateKey(pem))).toBe(true);
    expect(readdirSync(join(out, '..'))).toEqual(['new']);
  });

  it('overwrites nothing', async () => {
    const out = join(directory.path, 'taken');
    mkdirSync(out);
    writeFileSync(join(out, 'other'), 'precious');
    const { status, stdout, stderr } = await keys(['generate', '--out', out]);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^--out: nothing was written: ENOTEMPTY/);
    expect(readdirSync(out)).toEqual(['other']);
    expect(readdirSync(directory.path).filter((name) => name.startsWith('taken'))).toEqual(['taken']);
  });
});

describe('keys rotate', () => {
  const [ONE, older] = [testKeys(), testKeyPair()];
  const OLD = { ...ONE, access: { ...ONE.access, publicKeys: [...ONE.access.publicKeys, ...older.publicKeys] } };
  const ENV = { ...PRODUCTION, ...keyVariables(OLD), JWT_ACCESS_EXPIRES_IN: '20m', JWT_REFRESH_EXPIRES_IN: '3d' };
  const LIFETIMES = { ACCESS: 20 * 60_000, REFRESH: 3 * 86_400_000 };
  let started: number;
  let ended: number;
  let printed: Awaited<ReturnType<typeof keys>>;
  let steps: string[];
  beforeAll(async () => {
    started = Date.now();
    printed = await keys(['rotate'], ENV);
    ended = Date.now();
    steps = printed.stdout.split(/^# step-\d\.env$/m).slice(1);
  });

  it('prints three steps, after each of which production starts', () => {
    expect(printed).toMatchObject({ status: 0, stderr: '' });
    expect(steps).toHaveLength(3);
    let env: Env = ENV;
    const after = steps.map((step) => {
      env = { ...env, ...parseEnv(step) };
      return parseConfig(env).keys;
    });
    const [announced, switched, retired] = after;
    for (const kind of ['access', 'refresh'] as const) {
      const fresh = retired?.[kind].publicKeys ?? [];
      const old = OLD[kind].publicKeys;
      expect(fresh).toHaveLength(1);
      expect(same(fresh, old)).toBe(false);

      expect(announced?.[kind].privateKey.equals(OLD[kind].privateKey)).toBe(true);
      expect(same(announced?.[kind].publicKeys ?? [], [...old, ...fresh])).toBe(true);
      expect(switched?.[kind].privateKey.equals(OLD[kind].privateKey)).toBe(false);
      expect(same(switched?.[kind].publicKeys ?? [], [...fresh, ...old])).toBe(true);
      expect(switched && retired?.[kind].privateKey.equals(switched[kind].privateKey)).toBe(true);
    }
  });

  it('sets private keys in the second step only, and prints none of the old ones', () => {
    expect(steps.map((step) => Object.keys(parseEnv(step)).length)).toEqual([2, 4, 2]);
    expect(steps.map((step) => step.split('PRIVATE KEY-----').length - 1)).toEqual([0, 4, 0]);
    for (const { privateKey } of [OLD.access, OLD.refresh]) {
      const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      expect(printed.stdout).not.toContain(pem.split('\n')[1]);
    }
  });

  it.each([
    ['rotate', ENV],
    ['factors', { ...PRODUCTION, FACTOR_KEYS: Buffer.alloc(32, 1).toString('base64url') }],
  ])('writes a file for each step of %s, which only its owner can read, and prints no key', async (command, env) => {
    const out = join(directory.path, command);
    const files = ['step-1.env', 'step-2.env', 'step-3.env'].map((file) => join(out, file));
    const printed = { status: 0, stdout: `${files.join('\n')}\n`, stderr: '' };
    expect(await keys([command, '--out', out], env)).toEqual(printed);
    expect(readdirSync(out)).toHaveLength(3);
    for (const [index, file] of files.entries()) {
      expect(mode(file)).toBe('600');
      expect(readFileSync(file, 'utf8')).toContain(`Step ${index + 1} of 3`);
    }
  });

  it.each(['ACCESS', 'REFRESH'] as const)('prints when the old key of %s may be removed', (kind) => {
    const [, moment = ''] =
      new RegExp(`^# Not before (\\S+):\\nJWT_${kind}_PUBLIC_KEY=`, 'm').exec(steps[2] ?? '') ?? [];
    const earliest = Date.parse(moment) - LIFETIMES[kind];
    expect(earliest).toBeGreaterThanOrEqual(started);
    expect(earliest).toBeLessThanOrEqual(ended);
  });

  it('refuses an environment that is invalid or has no keys', async () => {
    expect(await keys(['rotate'], { ...ENV, JWT_REFRESH_PUBLIC_KEY: '' })).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringContaining('JWT_REFRESH_PUBLIC_KEY: '),
    });
    expect(await keys(['rotate'])).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('no keys') });
  });
});

describe('keys check', () => {
  it('prints which keys sign and which verify, by their kid', async () => {
    const [current, older] = [testKeys(), testKeyPair()];
    const access = { ...current.access, publicKeys: [...current.access.publicKeys, ...older.publicKeys] };
    const { status, stdout, stderr } = await keys(['check'], {
      ...PRODUCTION,
      ...keyVariables({ ...current, access }),
      DATA_DIR: directory.path,
    });
    expect([status, stderr]).toEqual([0, '']);
    const kids = async (pair: KeyPair) => (await jwks(pair)).keys.map(({ kid }) => kid);
    const [[first, second], [refresh]] = [await kids(access), await kids(current.refresh)];
    expect(stdout).toBe(
      [
        ...['Keys of access tokens:', `  ${first}  current: signs and verifies`, `  ${second}  verifies`, ''],
        ...['Keys of refresh tokens:', `  ${refresh}  current: signs and verifies`, ''],
      ].join('\n'),
    );
  });

  it('succeeds without keys where the service generates its own', async () => {
    expect(await keys(['check'])).toMatchObject({ status: 0, stdout: expect.stringContaining('DATA_DIR') });
    expect((await keys(['check'], { NODE_ENV: 'production' })).status).toBe(2);
  });

  it('never prints a private key', async () => {
    for (const env of [PRODUCTION, { ...PRODUCTION, PORT: 'http' }, { ...PRODUCTION, JWT_ACCESS_PUBLIC_KEY: 'none' }]) {
      const { stdout, stderr } = await keys(['check'], env);
      for (const name of ['JWT_ACCESS_PRIVATE_KEY', 'JWT_REFRESH_PRIVATE_KEY']) {
        const [, secret = ''] = PRODUCTION[name]?.split('\n') ?? [];
        expect(secret.length).toBeGreaterThan(40);
        expect(stdout + stderr).not.toContain(secret);
      }
    }
  });
});

describe('keys hook', () => {
  it('is not shown, nor made, by a check before there is a key', async () => {
    const env = { DATA_DIR: join(directory.path, 'without') };
    expect((await keys(['check'], env)).stdout).not.toContain('whpk_');
    expect(existsSync(env.DATA_DIR)).toBe(false);
  });

  it('shows the public key alone, which stays the same', async () => {
    const env = { DATA_DIR: join(directory.path, 'hooks') };
    const { status, stdout } = await keys(['hook'], env);
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^whpk_[\w+/]{43}=\n$/)]);
    const pem = readFileSync(join(env.DATA_DIR, 'keys', 'hooks.pem'), 'utf8');
    expect(pem).toContain(stdout);
    expect(await keys(['hook'], { HOOK_PRIVATE_KEY: pem })).toMatchObject({ stdout });
    expect((await keys(['check'], env)).stdout).toContain(stdout);
  });

  it('shows the private key on request, as HOOK_PRIVATE_KEY takes it', async () => {
    const env = { DATA_DIR: join(directory.path, 'shown') };
    const made = parseEnv((await keys(['hook', '--private'], env)).stdout);
    expect((await keys(['hook'], { ...env, ...made })).stdout).toContain('whpk_');
    expect(existsSync(env.DATA_DIR)).toBe(false);
    const shown = await keys(['hook'], env);
    const { stdout } = await keys(['hook', '--private'], env);
    const { HOOK_PRIVATE_KEY = '' } = parseEnv(stdout);
    expect(await keys(['hook'], { HOOK_PRIVATE_KEY })).toEqual(shown);
    const out = join(directory.path, 'hook');
    const files = (await keys(['hook', '--private', '--out', out], env)).stdout;
    expect(files).toBe(`${join(out, 'hook-private.pem')}\n${join(out, 'hook.env')}\n`);
    expect(await keys(['hook'], { HOOK_PRIVATE_KEY_FILE: join(out, 'hook-private.pem') })).toEqual(shown);
    expect((await keys(['hook', '--out', join(directory.path, 'none')], env)).status).toBe(2);
  });
});

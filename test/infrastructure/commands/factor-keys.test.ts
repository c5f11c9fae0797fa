import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { factorSecrets } from '../../../src/adapters/crypto/secrets.ts';
import { type Database, openDatabase } from '../../../src/adapters/mikro-orm/open-database.ts';
import { storesOver } from '../../../src/adapters/records/storage.ts';
import { withoutVersion } from '../../../src/application/storage/rows.ts';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { aFactor, aUser, NOW } from '../../support/builders.ts';
import { runHere, runSpawned } from '../../support/processes/commands.ts';
import { PRODUCTION } from '../../support/processes/environments.ts';
import { createDatabase, onPostgresql, onSqlite, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

type Env = Readonly<Record<string, string | undefined>>;

const keys = (args: readonly string[], env: Env = {}) => runHere(['keys', ...args], env);

describe('keys factors', () => {
  const A_KEY = Buffer.alloc(32, 1).toString('base64url');
  const ANOTHER_KEY = Buffer.alloc(32, 2).toString('base64url');
  const factorKeysIn = (text: string) => parseEnv(text).FACTOR_KEYS?.split(',') ?? [];

  it('prints a new key that production accepts, as a line of an environment file', async () => {
    const [first, second] = [await keys(['factors']), await keys(['factors'], PRODUCTION)];
    for (const { status, stderr, stdout } of [first, second]) {
      expect([status, stderr]).toEqual([0, '']);
      expect(parseConfig({ ...PRODUCTION, ...parseEnv(stdout) }).factorKeys).toHaveLength(1);
    }
    expect(first.stdout).not.toBe(second.stdout);
  });

  it('prints three steps: in each, every instance can decrypt what instances of the step before and after it encrypt', async () => {
    const old = [A_KEY, ANOTHER_KEY];
    const { status, stderr, stdout } = await keys(['factors'], { ...PRODUCTION, FACTOR_KEYS: old.join(',') });
    expect([status, stderr]).toEqual([0, '']);
    const steps = stdout.split(/^# step-\d\.env$/m).slice(1);
    for (const step of steps) expect(parseConfig({ ...PRODUCTION, ...parseEnv(step) }).factorKeys).not.toBeNull();
    const [announced = [], switched = [], retired = []] = steps.map(factorKeysIn);
    const [fresh = ''] = retired;
    expect(old).not.toContain(fresh);
    expect([announced, switched, retired]).toEqual([[...old, fresh], [fresh, ...old], [fresh]]);
  });

  it('makes no more keys than the service accepts, and none from an invalid environment', async () => {
    const ten = Array.from({ length: 10 }, (_, index) => Buffer.alloc(32, index).toString('base64url')).join(',');
    expect(await keys(['factors'], { ...PRODUCTION, FACTOR_KEYS: ten })).toMatchObject({ status: 1, stdout: '' });
    const invalid = await keys(['factors'], { ...PRODUCTION, FACTOR_KEYS: `${A_KEY},S3CRET` });
    expect(invalid).toMatchObject({ status: 2, stdout: '', stderr: expect.stringMatching(/^FACTOR_KEYS: /m) });
    expect(invalid.stderr).not.toMatch(new RegExp(`S3CRET|${A_KEY}`));
  });
});

type Given = { readonly env: Readonly<Record<string, string>>; readonly open: () => Promise<Database> };

const SECRET = 'JBSWY3DPEHPK3PXP';
const aKey = () => {
  const key = randomBytes(32);
  return { text: key.toString('base64url'), secrets: factorSecrets([key]) };
};

const onEmbedded = async (): Promise<Given> => {
  const { path } = temporaryDirectory();
  const open = () => openDatabase(onSqlite(join(path, 'database.sqlite')), { migrate: true });
  await (await open()).close();
  return { env: { DATA_DIR: path }, open };
};

const onServer = async (): Promise<Given> => {
  const { url } = await createDatabase(TEST_DATABASE_URL ?? '');
  await (await openDatabase(onPostgresql(url), { migrate: true })).close();
  return { env: { DATABASE_URL: url }, open: () => openDatabase(onPostgresql(url), { migrate: false }) };
};

/** What `work` does with the factors of the database, which it has for itself. */
const within = async <T>({ open }: Given, work: (stores: ReturnType<typeof storesOver>) => Promise<T>): Promise<T> => {
  const database = await open();
  return work(storesOver(database.records)).finally(database.close);
};

const add = async ({ users, records }: ReturnType<typeof storesOver>, { secrets }: ReturnType<typeof aKey>) => {
  const user = aUser();
  await users.add(user);
  const factor = aFactor({ userId: user.id, secret: secrets.encrypt(SECRET, user.id), confirmedAt: NOW, lastStep: 7 });
  await records.insert('factors', factor);
  return factor;
};

const all = (given: Given) =>
  within(given, async ({ records }) => (await records.list('factors', { order: ['id'] })).map(withoutVersion));

/** @returns what it prints. */
const reEncrypt = async ({ env }: Pick<Given, 'env'>, ring: readonly ReturnType<typeof aKey>[], expected = 0) => {
  const FACTOR_KEYS = ring.map(({ text }) => text).join(',');
  const { status, stdout, stderr } = await keys(['factors', '--re-encrypt'], { ...env, FACTOR_KEYS });
  expect(status).toBe(expected);
  return stdout + stderr;
};

describe('keys factors --re-encrypt', () => {
  it.runIf(TEST_DATABASE_URL !== undefined)(
    'fails when a secret has an unknown key, leaves it as it is, and encrypts the others',
    async () => {
      const given = await onServer();
      const [lost, old, fresh] = [aKey(), aKey(), aKey()];
      const [ofLost] = await within(given, async (stores) => [await add(stores, lost), await add(stores, old)]);
      expect(await reEncrypt(given, [fresh, old], 1)).toMatch(/ 1 are .* 0 were .* 1 cannot .*\n.*FACTOR_KEYS/);
      const [first, second] = await all(given);
      expect(first).toEqual(ofLost);
      expect(fresh.secrets.decrypt(second?.secret ?? '', second?.userId ?? '')).toBe(SECRET);
      expect(await reEncrypt(given, [fresh, lost])).toMatch(/ 1 are .* 1 were .* 0 cannot /);
    },
  );

  it('needs keys, a database, and tables; in a process of its own it ends', async () => {
    const { env } = await onEmbedded();
    const FACTOR_KEYS = aKey().text;
    const again = ['factors', '--re-encrypt'];
    expect(await keys(again, env)).toMatchObject({ status: 1, stderr: expect.stringContaining('no FACTOR_KEYS') });
    expect(await runSpawned(['keys', ...again], { ...env, FACTOR_KEYS })).toMatchObject({ status: 0, stderr: '' });
    const { path } = temporaryDirectory();
    expect(await reEncrypt({ env: { DATA_DIR: path } }, [aKey()], 1)).toContain('There is no database');
    await (await openDatabase(onSqlite(join(path, 'database.sqlite')), { migrate: false })).close();
    expect(await reEncrypt({ env: { DATA_DIR: path } }, [aKey()], 1)).toContain('npx tandem migrate');
  });
});

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { factorSecrets } from '../../../src/adapters/crypto/factor-secrets.ts';
import { type Database, openDatabase } from '../../../src/adapters/mikro-orm/open-database.ts';
import { storesOver } from '../../../src/adapters/records/storage.ts';
import type { Factor } from '../../../src/domain/second-factor.ts';
import { manageKeys } from '../../../src/infrastructure/commands/keys.ts';
import { aFactor, aUser, NOW } from '../../support/builders.ts';
import { createDatabase, onPostgresql, onSqlite, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

type Env = Readonly<Record<string, string>>;
type Given = { readonly env: Env; readonly open: () => Promise<Database> };

const SECRET = 'JBSWY3DPEHPK3PXP';
const aKey = () => {
  const key = randomBytes(32);
  return { text: key.toString('base64url'), secrets: factorSecrets([key]) };
};

const onEmbedded = async (): Promise<Given> => {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  const open = () => openDatabase(onSqlite(join(path, 'database.sqlite')), { migrate: true });
  await (await open()).close();
  return { env: { DATA_DIR: path }, open };
};

const onServer = async (): Promise<Given> => {
  const { url, drop } = await createDatabase(TEST_DATABASE_URL ?? '');
  onTestFinished(drop);
  await (await openDatabase(onPostgresql(url), { migrate: true })).close();
  return { env: { DATABASE_URL: url }, open: () => openDatabase(onPostgresql(url), { migrate: false }) };
};

/** What `work` does with the factors of the database, which it has for itself. */
const within = async <T>({ open }: Given, work: (stores: ReturnType<typeof storesOver>) => Promise<T>): Promise<T> => {
  const database = await open();
  return work(storesOver(database.records)).finally(database.close);
};

const add = async ({ users, factors }: ReturnType<typeof storesOver>, { secrets }: ReturnType<typeof aKey>) => {
  const user = aUser();
  await users.add(user);
  const factor = aFactor({ userId: user.id, secret: secrets.encrypt(SECRET, user.id), confirmedAt: NOW, lastStep: 7 });
  await factors.add(factor);
  return factor;
};

const all = (given: Given) => within(given, ({ factors }) => factors.listAll('', 1_000));

const reEncrypt = (given: Given, keys: readonly ReturnType<typeof aKey>[]): Promise<string> =>
  manageKeys(['factors', '--re-encrypt'], {
    LOG_LEVEL: 'silent',
    ...given.env,
    FACTOR_KEYS: keys.map(({ text }) => text).join(','),
  });

const STORES = [['SQLite', onEmbedded] as const, ['PostgreSQL', onServer] as const];

describe.each(TEST_DATABASE_URL === undefined ? STORES.slice(0, 1) : STORES)(
  'keys factors --re-encrypt on %s',
  (_name, make) => {
    it('encrypts every secret with the first key, so that the others can be removed', async () => {
      const given = await make();
      const [oldest, old, fresh] = [aKey(), aKey(), aKey()];
      const before = await within(given, async (stores) => [
        await add(stores, oldest),
        await add(stores, old),
        await add(stores, fresh),
      ]);
      expect(await reEncrypt(given, [fresh, old, oldest])).toMatch(/ 2 are .* 1 were .* 0 cannot /);
      const after = await all(given);
      expect(after).toEqual(before.map((factor) => ({ ...factor, secret: expect.any(String) })));
      for (const { secret, userId } of after) expect(fresh.secrets.decrypt(secret, userId)).toBe(SECRET);
      expect(await reEncrypt(given, [fresh])).toMatch(/ 0 are .* 3 were .* 0 cannot /);
      expect(await all(given)).toEqual(after);
    });
  },
);

describe('keys factors --re-encrypt', () => {
  it.runIf(TEST_DATABASE_URL !== undefined)(
    'fails when a secret has an unknown key, leaves it as it is, and encrypts the others',
    async () => {
      const given = await onServer();
      const [lost, old, fresh] = [aKey(), aKey(), aKey()];
      const [ofLost] = await within(given, async (stores) => [await add(stores, lost), await add(stores, old)]);
      const failed = reEncrypt(given, [fresh, old]);
      await expect(failed).rejects.toThrow(/ 1 are .* 0 were .* 1 cannot .*\n.*FACTOR_KEYS/);
      const [first, second] = await all(given);
      expect(first).toEqual(ofLost);
      expect(fresh.secrets.decrypt(second?.secret ?? '', second?.userId ?? '')).toBe(SECRET);
      expect(await reEncrypt(given, [fresh, lost])).toMatch(/ 1 are .* 1 were .* 0 cannot /);
    },
  );

  it.runIf(TEST_DATABASE_URL !== undefined)(
    'runs beside instances that add, use and remove factors, and beside itself',
    async () => {
      const given = await onServer();
      const [old, fresh] = [aKey(), aKey()];
      const database = await given.open();
      onTestFinished(database.close);
      const stores = storesOver(database.records);
      const before: Factor[] = [];
      for (let count = 0; count < 250; count += 1) before.push(await add(stores, old));
      const use = async () => {
        for (const factor of before) expect(await stores.factors.useStep(factor, 8, NOW)).toBe(true);
      };
      const [removed] = before.splice(249);
      const [added] = await Promise.all([
        add(stores, fresh),
        use(),
        stores.factors.remove(removed ?? expect.unreachable()),
        reEncrypt(given, [fresh, old]),
        reEncrypt(given, [fresh, old]),
      ]);
      const after = await stores.factors.listAll('', 1_000);
      expect(after.map(({ id }) => id).sort()).toEqual([...before, added].map(({ id }) => id).sort());
      for (const { id, secret, userId, lastStep } of after) {
        expect(fresh.secrets.decrypt(secret, userId)).toBe(SECRET);
        expect(lastStep).toBe(id === added.id ? 7 : 8);
      }
    },
  );

  it('needs keys, and a database', async () => {
    const { env } = await onEmbedded();
    const run = (given: Env) => manageKeys(['factors', '--re-encrypt'], { LOG_LEVEL: 'silent', ...given });
    await expect(run(env)).rejects.toThrow('no FACTOR_KEYS');
    const FACTOR_KEYS = aKey().text;
    const none = temporaryDirectory();
    onTestFinished(none.remove);
    await expect(run({ DATA_DIR: none.path, FACTOR_KEYS })).rejects.toThrow('There is no database');
  });

  it.runIf(TEST_DATABASE_URL !== undefined)('says when the database was never migrated', async () => {
    const { url, drop } = await createDatabase(TEST_DATABASE_URL ?? '');
    onTestFinished(drop);
    const given = { env: { DATABASE_URL: url }, open: () => expect.unreachable() };
    await expect(reEncrypt(given, [aKey()])).rejects.toThrow('npx tandem migrate');
  });
});

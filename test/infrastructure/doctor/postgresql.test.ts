import { describe, expect, it } from 'vitest';
import { examine } from '../../../src/infrastructure/commands/doctor/examine.ts';
import { database } from '../../../src/infrastructure/commands/doctor/stores.ts';
import { CHECKS } from '../../../src/infrastructure/commands/doctor.ts';
import { brief, setUpOf } from '../../support/doctor.ts';
import { canStartServers, postgresOfTheTests, startPostgres } from '../../support/servers/of-the-tests.ts';
import { createDatabase, onPostgresql } from '../../support/storage/databases.ts';
import { openDatabase } from '../../support/storage/open-database.ts';

const server = postgresOfTheTests();

const newDatabase = async (): Promise<string> => {
  const { url } = await createDatabase(server ?? '');
  return url;
};

const execute = async (url: string, statements: readonly string[], migrate = false): Promise<unknown[]> => {
  const { em, close } = await openDatabase(onPostgresql(url), { migrate });
  try {
    const results: unknown[] = [];
    for (const statement of statements) results.push(await em.execute(statement));
    return results;
  } finally {
    await close();
  }
};

/** What the report has about a database, for a role of its own with the password `S3CRET`. */
const examinedAsRole = async (url: string) => {
  const role = `${new URL(url).pathname.slice(1)}_role`;
  await execute(url, [`create role ${role} login password 'S3CRET'`]);
  const ofRole = Object.assign(new URL(url), { username: role, password: 'S3CRET' }).href;
  const checks = CHECKS.filter(({ name }) => name === 'database');
  const setUp = setUpOf({ DATABASE_URL: ofRole });
  const [examined] = await examine(checks, setUp).finally(() => execute(url, [`drop role ${role}`]));
  return examined?.findings ?? [];
};

const examined = async (url: string, env: Readonly<Record<string, string>> = {}) =>
  database(setUpOf({ DATABASE_URL: url, ...env }));

describe.runIf(server !== undefined)('the doctor asks PostgreSQL', () => {
  it('about an empty database, and leaves it empty', async () => {
    const url = await newDatabase();
    expect(brief(await examined(url))).toEqual([
      'ok database.reachable',
      'note database.migrations',
      'ok database.clock',
    ]);
    expect(brief(await examined(url, { MIGRATE_ON_START: 'false' }))).toContain('problem database.migrations');
    const tables = await execute(url, [`select tablename from pg_tables where schemaname = 'public'`]);
    expect(tables).toEqual([[]]);
  });

  it('about a migrated one, also by a newer version', async () => {
    const url = await newDatabase();
    await execute(url, [], true);
    expect(brief(await examined(url))).toContain('ok database.migrations');
    await execute(url, [`insert into tandem_migrations (name) values ('9999-later')`]);
    expect(brief(await examined(url))).toContain('warning database.newer');
  });

  it('about what its role may do', async () => {
    const seen = await examinedAsRole(await newDatabase());
    expect(brief(seen)).toEqual(['ok database.reachable', 'problem database.migrations', 'ok database.clock']);
  });

  it('that is read-only', async () => {
    const url = await newDatabase();
    const name = new URL(url).pathname.slice(1);
    await execute(url, [], true);
    await execute(url, [`alter database ${name} set default_transaction_read_only = on`]);
    expect(brief(await examined(url))).toContain('problem database.read-only');
  });

  it.runIf(canStartServers())('that is dead or silent, and gives up', async () => {
    const own = await startPostgres();
    const { password } = new URL(own.url);
    expect(brief(await examined(own.url))).toContain('ok database.reachable');
    await own.freeze();
    const silent = await examined(own.url);
    own.thaw();
    await own.kill();
    const dead = await examined(own.url);
    expect([silent, dead].map(brief)).toEqual([['problem database.unreachable'], ['problem database.unreachable']]);
    expect(JSON.stringify([silent, dead])).not.toContain(password);
  });

  it('that refuses the question, and is reported with the code alone', async () => {
    const url = await newDatabase();
    await execute(url, ['create table tandem_migrations (name text)']);
    const seen = await examinedAsRole(url);
    expect(brief(seen)).toEqual(['problem database.failed']);
    expect(seen[0]?.seen).toContain('42501');
    expect(JSON.stringify(seen)).not.toMatch(/S3CRET|select/);
  });

  it('with a wrong password, which it does not repeat', async () => {
    const url = Object.assign(new URL(server ?? ''), { password: 'S3CRET-wrong' }).href;
    const seen = await examined(url);
    expect(seen).toMatchObject({ id: 'database.unreachable', seen: expect.stringContaining('28P01') });
    expect(JSON.stringify(seen)).not.toContain('S3CRET');
  });
});

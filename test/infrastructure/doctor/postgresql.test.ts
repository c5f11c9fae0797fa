import { describe, expect, it, onTestFinished } from 'vitest';
import { MIGRATIONS } from '../../../src/adapters/mikro-orm/migrations/migrations-list.ts';
import { openDatabase } from '../../../src/infrastructure/database/database.ts';
import { addressOf, askPostgresql } from '../../../src/infrastructure/doctor/probes/postgresql.ts';
import { examined as examinedGroup } from '../../support/doctor.ts';
import {
  canStartPgbouncer,
  canStartServers,
  postgresOfTheTests,
  startPgbouncer,
  startPostgres,
} from '../../support/servers/of-the-tests.ts';
import { createDatabase, onPostgresql } from '../../support/storage/databases.ts';

const server = postgresOfTheTests();

const newDatabase = async (): Promise<string> => {
  const { url, drop } = await createDatabase(server ?? '');
  onTestFinished(drop);
  return url;
};

const execute = async (url: string, ...statements: readonly string[]): Promise<unknown[]> => {
  const { em, close } = await openDatabase(onPostgresql(url), { migrate: false });
  try {
    const results: unknown[] = [];
    for (const statement of statements) results.push(await em.execute(statement));
    return results;
  } finally {
    await close();
  }
};

/** The findings about a database. */
const examined = (url: string) => examinedGroup('database', { DATABASE_URL: url });

describe.runIf(server !== undefined)('the doctor asks PostgreSQL', () => {
  it('about an empty database, and leaves it empty', async () => {
    const url = await newDatabase();
    expect(await askPostgresql(onPostgresql(url))).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+/),
      isReadOnly: false,
      isPooled: false,
      isSuperuser: true,
      mayCreate: true,
      isolation: 'read committed',
      applied: [],
    });
    const [tables] = await execute(url, `select tablename from pg_tables where schemaname = 'public'`);
    expect(tables).toEqual([]);
  });

  it('about the migrations of a migrated one', async () => {
    const url = await newDatabase();
    const { close } = await openDatabase(onPostgresql(url), { migrate: true });
    await close();
    const { applied } = await askPostgresql(onPostgresql(url));
    expect(applied).toEqual(MIGRATIONS.map(({ name }) => name));
  });

  it('about the limits of its role and of the database', async () => {
    const url = await newDatabase();
    const name = new URL(url).pathname.slice(1);
    const role = `${name}_role`;
    await execute(
      url,
      `create role ${role} login password 'p' connection limit 7`,
      `alter database ${name} connection limit 5`,
      `alter role ${role} set statement_timeout = '2s'`,
      `alter role ${role} set idle_session_timeout = '4s'`,
      `alter role ${role} set default_transaction_read_only = on`,
      `alter role ${role} set default_transaction_isolation = 'serializable'`,
    );
    const asRole = Object.assign(new URL(url), { username: role, password: 'p' }).href;
    const facts = await askPostgresql(onPostgresql(asRole)).finally(() => execute(url, `drop role ${role}`));
    expect(facts).toMatchObject({
      isSuperuser: false,
      mayCreate: false,
      isReadOnly: true,
      isolation: 'serializable',
      connections: 5,
      statementTimeout: 2_000,
      idleSessionTimeout: 4_000,
    });
  });

  it.runIf(canStartPgbouncer())('through a pooler, which it notices', async () => {
    const pooler = await startPgbouncer(await newDatabase());
    onTestFinished(pooler.stop);
    expect(await askPostgresql(onPostgresql(pooler.url))).toMatchObject({ isPooled: true, applied: [] });
  });

  it.runIf(canStartServers())('that is dead or silent, and gives up', async () => {
    const own = await startPostgres();
    onTestFinished(own.stop);
    const { password } = new URL(own.url);
    expect((await examined(own.url)).map(({ id }) => id)).toContain('database.reachable');
    await own.freeze();
    const silent = await examined(own.url);
    own.thaw();
    await own.kill();
    const dead = await examined(own.url);
    expect([silent, dead].map((findings) => findings.map(({ id, severity }) => [id, severity]))).toEqual([
      [['database.unreachable', 'problem']],
      [['database.unreachable', 'problem']],
    ]);
    expect(JSON.stringify([silent, dead])).not.toContain(password);
  });

  it('that does not answer, and tells no more than the code', async () => {
    const url = await newDatabase();
    const name = new URL(url).pathname.slice(1);
    const role = `${name}_role`;
    await execute(
      url,
      'create table mikro_orm_migrations (id int, name text)',
      `create role ${role} login password 'S3CRET'`,
    );
    const asRole = Object.assign(new URL(url), { username: role, password: 'S3CRET' }).href;
    const findings = await examined(asRole).finally(() => execute(url, `drop role ${role}`));
    expect(findings).toMatchObject([{ id: 'database.failed', severity: 'problem' }]);
    expect(findings[0]?.seen).toContain('42501');
    expect(JSON.stringify(findings)).not.toMatch(/S3CRET|select/);
  });

  it('with a wrong password, which it does not repeat', async () => {
    const url = Object.assign(new URL(server ?? ''), { password: 'S3CRET-wrong' }).href;
    const [finding] = await examined(url);
    expect(finding).toMatchObject({ id: 'database.unreachable', seen: expect.stringContaining('28P01') });
    expect(JSON.stringify(finding)).not.toContain('S3CRET');
  });
});

describe('the address that the doctor shows', () => {
  it.each([
    ['postgresql://user:S3CRET@db.example.com:6432/tandem', 'db.example.com:6432'],
    ['postgresql://user:S3CRET@db.example.com/tandem?sslmode=verify-full', 'db.example.com:5432'],
    ['postgresql://user:12/S3CRET@db.example.com/tandem', 'the address of DATABASE_URL'],
    ['postgresql://user:12?S3CRET@db.example.com/tandem', 'the address of DATABASE_URL'],
    ['postgresql://user:12#S3CRET@db.example.com/tandem', 'the address of DATABASE_URL'],
    ['postgresql:///tandem?host=/run/postgresql', '/run/postgresql:5432'],
  ])('has no password: %s', (url, address) => {
    expect(addressOf(url)).toBe(address);
  });
});

import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { MIGRATION_NAMES } from '../../../src/adapters/mikro-orm/migrations/migrations.ts';
import { mikroOrmUserRepository } from '../../../src/adapters/user-repository/mikro-orm.ts';
import { openDatabase } from '../../../src/infrastructure/database/database.ts';
import { aUser } from '../../support/builders.ts';
import { startHelper } from '../../support/processes/processes.ts';
import { createDatabase, onPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { copyEmbedded } from '../../support/storage/embedded-template.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

describe('openDatabase of an embedded database', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let options: { kind: 'embedded'; dataDir: string };
  beforeEach(() => {
    directory = temporaryDirectory();
    options = { kind: 'embedded', dataDir: join(directory.path, 'data') };
  });
  afterEach(() => directory.remove());
  const copyFresh = () => copyEmbedded(options.dataDir, { migrated: false });
  const copyMigrated = () => copyEmbedded(options.dataDir, { migrated: true });

  it('keeps what was stored when it is closed and opened again', async () => {
    await copyMigrated();
    const user = aUser();
    const first = await openDatabase(options, { migrate: false });
    await mikroOrmUserRepository(first).add(user);
    await first.close();

    const second = await openDatabase(options, { migrate: false });
    expect(await mikroOrmUserRepository(second).findById(user.id)).toStrictEqual(user);
    await second.close();
  });

  it('makes the directory private, even if everybody could read it before', async () => {
    await copyFresh();
    const paths = [options.dataDir, join(options.dataDir, 'database')];
    for (const path of paths) chmodSync(path, 0o755);
    const database = await openDatabase(options, { migrate: false });
    expect(paths.map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
    await database.close();
  });

  it('refuses a second process, prints nothing, and keeps what was stored when its process is killed', async () => {
    await copyMigrated();
    const helper = await startHelper(
      new URL('../../support/processes/hold-database.ts', import.meta.url),
      options.dataDir,
    );
    try {
      await expect(openDatabase(options, { migrate: false })).rejects.toThrow(
        `DATA_DIR (${options.dataDir}) cannot be used: process ${helper.pid}`,
      );
    } finally {
      await helper.kill();
    }
    const user = JSON.parse(helper.output);
    expect(helper.complaints()).toBe('');

    const database = await openDatabase(options, { migrate: false });
    expect(await mikroOrmUserRepository(database).findById(user.id)).toStrictEqual(user);
    await database.close();
  });

  it('refuses a second opening in one process, and leaves the first as it was', async () => {
    await copyMigrated();
    const database = await openDatabase(options, { migrate: false });
    await expect(openDatabase(options, { migrate: false })).rejects.toThrow('is using it');
    await database.ping();
    await database.close();
  });

  it('rejects every query after it is closed, and does not open the directory again without its lock', async () => {
    await copyMigrated();
    const database = await openDatabase(options, { migrate: false });
    await database.close();
    const closed = { code: 'DB_QUERY_FAILED', reason: expect.stringContaining('the database is closed') };
    await expect(database.ping()).rejects.toMatchObject(closed);
    const users = mikroOrmUserRepository(database);
    await expect(users.findById(aUser().id)).rejects.toMatchObject(closed);
    await expect(users.update(aUser().id, { now: 1, locale: 'de' })).rejects.toMatchObject(closed);
    await database.close();
  });

  it('migrates only on request, and a second time without an effect', async () => {
    await copyFresh();
    const database = await openDatabase(options, { migrate: false });
    const users = mikroOrmUserRepository(database);
    await expect(users.findById(aUser().id)).rejects.toMatchObject({
      code: 'DB_QUERY_FAILED',
      reason: expect.stringContaining('42P01'),
    });
    await database.migrate();
    await users.add(aUser());
    await database.migrate();
    await database.ping();
    await database.close();
  });

  it('names the error of a migration that failed, without its SQL', async () => {
    await copyFresh();
    const database = await openDatabase(options, { migrate: false });
    await database.em.execute('create table sessions (id int)');
    await database.close();
    await expect(openDatabase(options, { migrate: true })).rejects.toThrow(
      /^The database in DATA_DIR \(.*\) cannot be opened: TableExistsException 42P07 heap_create_with_catalog$/,
    );
    expect(existsSync(join(options.dataDir, 'tandem.pid'))).toBe(false);
  });

  it('reports that DATA_DIR is a file', async () => {
    writeFileSync(options.dataDir, '');
    await expect(openDatabase(options, { migrate: true })).rejects.toThrow(
      `DATA_DIR (${options.dataDir}) cannot be used: EEXIST: file already exists`,
    );
  });

  it('reports why the database in DATA_DIR cannot be opened, and unlocks the directory', async () => {
    mkdirSync(options.dataDir);
    writeFileSync(join(options.dataDir, 'database'), '');
    await expect(openDatabase(options, { migrate: true })).rejects.toThrow(
      `The database in DATA_DIR (${options.dataDir}) cannot be opened: ENOTDIR: not a directory`,
    );
    expect(existsSync(join(options.dataDir, 'tandem.pid'))).toBe(false);
  });
});

describe('openDatabase of a PostgreSQL', () => {
  it('reports that nothing listens, without the URL', async () => {
    const url = 'postgresql://user:secret@127.0.0.1:1/tandem';
    await expect(openDatabase(onPostgresql(url), { migrate: true })).rejects.toThrow(
      /^The database of DATABASE_URL cannot be opened: DriverException ECONNREFUSED$/,
    );
  });

  it('reports that a file of its certificates cannot be read, without the path', async () => {
    const url = 'postgresql://user:secret@127.0.0.1:1/tandem?sslmode=verify-full&sslrootcert=/nowhere/ca.pem';
    await expect(openDatabase(onPostgresql(url), { migrate: true })).rejects.toThrow(
      /^The database of DATABASE_URL cannot be opened: ENOENT: a file that sslrootcert, sslcert or sslkey names cannot be read$/,
    );
  });

  it('reports that a URL names no database', async () => {
    for (const url of ['postgresql://user:secret@127.0.0.1:1', 'postgresql://user:secret@127.0.0.1:1/?a=/b', 'db']) {
      await expect(openDatabase(onPostgresql(url), { migrate: true })).rejects.toThrow(
        /^DATABASE_URL names no database$/,
      );
    }
  });

  it('requests TLS if the URL does, and sends nothing unencrypted to a server without it', async () => {
    const received: Buffer[] = [];
    const server = createServer((socket) =>
      socket
        .on('error', () => undefined)
        .on('data', (data) => {
          received.push(Buffer.from(data));
          socket.write('N');
        }),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    // A server that listens on a port has no other kind of address.
    const { port } = server.address() as { port: number };
    const url = `postgresql://user:secret@127.0.0.1:${port}/tandem?sslmode=verify-full`;
    await expect(openDatabase(onPostgresql(url), { migrate: false })).rejects.toThrow(
      /^The database of DATABASE_URL cannot be opened: .*\(The server does not support SSL connections\)$/,
    );
    await new Promise((resolve) => server.close(resolve));
    // SSLRequest: a length of 8 and the code 80877103 (PostgreSQL's frontend/backend protocol, "Message Formats").
    expect(Buffer.concat(received).toString('hex')).toBe('0000000804d2162f');
  });
});

const answers = (ping: () => Promise<void>): Promise<boolean> =>
  ping().then(
    () => true,
    () => false,
  );

describe.runIf(TEST_DATABASE_URL !== undefined)('openDatabase of a running PostgreSQL', () => {
  const create = () => createDatabase(TEST_DATABASE_URL ?? '');

  it('migrates once when many instances start at the same time', async () => {
    const { url, drop } = await create();
    onTestFinished(drop);
    const instances = await Promise.all(
      Array.from({ length: 6 }, () => openDatabase(onPostgresql(url), { migrate: true })),
    );
    const [first] = instances;
    const applied = await first?.em.execute('select name from mikro_orm_migrations');
    expect(applied).toEqual(MIGRATION_NAMES.map((name) => ({ name })));
    await Promise.all(instances.map(({ close }) => close()));
  });

  it('reads the password from PGPASSWORD, with any characters, when the URL has none', async () => {
    const { url, drop } = await create();
    onTestFinished(drop);
    const password = 'p@:/%40#? é&\'"\\$';
    const admin = await openDatabase(onPostgresql(url), { migrate: false });
    const role = `tandem_${process.pid}`;
    await admin.em.execute(`create role ${role} login password '${password.replaceAll("'", "''")}'`);
    const asRole = Object.assign(new URL(url), { username: role, password: '' }).href;
    vi.stubEnv('PGPASSWORD', password);
    try {
      const { em, close } = await openDatabase(onPostgresql(asRole), { migrate: false });
      expect(await em.execute('select current_user as name')).toEqual([{ name: role }]);
      await close();
      vi.stubEnv('PGPASSWORD', 'another');
      await expect(openDatabase(onPostgresql(asRole), { migrate: false })).rejects.toThrow(/28P01/);
    } finally {
      vi.unstubAllEnvs();
      await admin.em.execute(`drop role ${role}`);
      await admin.close();
    }
  });

  it('names itself to the server', async () => {
    const { url, drop } = await create();
    onTestFinished(drop);
    const { em, close } = await openDatabase(onPostgresql(url), { migrate: true });
    expect(await em.execute('show application_name')).toEqual([{ application_name: 'tandem' }]);
    await close();
  });

  it('works again after its connections were closed', async () => {
    const { url, drop } = await create();
    onTestFinished(drop);
    const { em, ping, close } = await openDatabase(onPostgresql(url), { migrate: true });
    const killer = await openDatabase(onPostgresql(url), { migrate: false });
    await killer.em.execute(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    await expect.poll(() => answers(ping)).toBe(true);
    expect(await mikroOrmUserRepository({ em }).findById(aUser().id)).toBeNull();
    await killer.close();
    await close();
  });
});

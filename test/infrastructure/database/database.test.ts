import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { sessionRepositoryOver } from '../../../src/adapters/records/sessions.ts';
import { onDatabaseFailure } from '../../../src/adapters/records/storage.ts';
import { database as examined } from '../../../src/infrastructure/commands/doctor/stores.ts';
import { setUpOf } from '../../support/doctor.ts';
import { listenOnLoopback } from '../../support/listen.ts';
import { createDatabase, onPostgresql, TEST_DATABASE_URL } from '../../support/storage/databases.ts';
import { ALL_KINDS, emptyFile } from '../../support/storage/kinds.ts';
import { openDatabase } from '../../support/storage/open-database.ts';

const writeNonsense = (path: string) => {
  mkdirSync(dirname(path));
  writeFileSync(path, 'x'.repeat(5_000));
};

it.each(ALL_KINDS)(
  'a database of $on rejects every call after it is closed, as one without a connection, and opens no other',
  async ({ empty }) => {
    const { records, withFasterMethods: faster, ping, close } = await openDatabase(await empty(), { migrate: true });
    await close();
    const counted: string[] = [];
    onTestFinished(onDatabaseFailure((each) => counted.push(each)));
    const closed = { code: 'DB_QUERY_FAILED', reason: expect.stringMatching(/already been destroyed|calling end/) };
    await expect(ping()).rejects.toMatchObject(closed);
    await expect(records.list('users', { equal: { id: 'a' } })).rejects.toMatchObject(closed);
    await expect(records.unit(async () => undefined)).rejects.toMatchObject(closed);
    const { findWithUser } = faster(sessionRepositoryOver(records));
    await expect(findWithUser({ id: 'a', userId: 'b' })).rejects.toMatchObject(closed);
    expect(new Set(counted)).toEqual(new Set(['connection']));
  },
);

describe('openDatabase of a file of SQLite', () => {
  it.each([
    ['a directory', (path: string) => mkdirSync(path, { recursive: true }), 'unable to open database file'],
    ['another kind of file', writeNonsense, 'file is not a database'],
    [
      'in a directory that is a file',
      (path: string) => writeFileSync(dirname(path), ''),
      'EEXIST: file already exists',
    ],
  ])('reports that it cannot be opened, and why: %s', async (_what, prepare, reason) => {
    const options = await emptyFile();
    const path = join(dirname(options.path), 'data', 'test.sqlite');
    prepare(path);
    await expect(openDatabase({ ...options, path }, { migrate: true })).rejects.toThrow(
      `The database ${path} (of DATABASE_URL or DATA_DIR) cannot be opened: ${reason}`,
    );
  });
});

it.each(ALL_KINDS)(
  'a database of $on closes while statements wait for new connections, and leaves none of them without an answer',
  async ({ empty }) => {
    const { ping, connections, close } = await openDatabase(await empty(), { migrate: true });
    const answered = Promise.all(Array.from({ length: 5 }, () => answers(ping)));
    for (let used = 0; used < 2; used = connections()?.used ?? 2) await nextTurn();
    await close();
    expect(await answered).toHaveLength(5);
  },
);

describe('openDatabase of a PostgreSQL', () => {
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
    const { port, close } = await listenOnLoopback(server);
    const url = `postgresql://user:secret@127.0.0.1:${port}/tandem?sslmode=verify-full`;
    await expect(openDatabase(onPostgresql(url), { migrate: false })).rejects.toThrow(
      /^The database of DATABASE_URL cannot be opened: .*\(The server does not support SSL connections\)$/,
    );
    await close();
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

  it('reads the password from PGPASSWORD, with any characters, when the URL has none', async () => {
    const { url } = await create();
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

  it.each(['SQL_ASCII', 'LATIN1'])('refuses the encoding %s, and says what to do, as the doctor does', async (name) => {
    const how = `encoding '${name}' template template0 lc_collate 'C' lc_ctype 'C'`;
    const { url } = await createDatabase(TEST_DATABASE_URL ?? '', how);
    const seen = `The database of DATABASE_URL has the encoding ${name}, and needs UTF8: make one by "create database NAME encoding 'UTF8' template template0", and set DATABASE_URL to it`;
    await expect(openDatabase(onPostgresql(url), { migrate: true })).rejects.toThrow(seen);
    expect(await examined(setUpOf({ DATABASE_URL: url }))).toMatchObject({ id: 'database.unfit', seen });
  });

  it('names itself to the server', async () => {
    const { url } = await create();
    const { em, close } = await openDatabase(onPostgresql(url), { migrate: true });
    expect(await em.execute('show application_name')).toEqual([{ application_name: 'tandem' }]);
    await close();
  });
});

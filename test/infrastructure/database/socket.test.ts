import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/infrastructure/config.ts';
import { postgresOfTheTests } from '../../support/servers/of-the-tests.ts';
import { createDatabase } from '../../support/storage/databases.ts';
import { openDatabase } from '../../support/storage/open-database.ts';
import { temporaryDirectory } from '../../support/storage/temporary-directory.ts';

const server = postgresOfTheTests();

describe.runIf(server !== undefined)('a PostgreSQL behind a socket of the file system', () => {
  const directory = temporaryDirectory();
  /** Colons, as those of Cloud SQL. */
  const sockets = join(directory.path, 'p:r:i');
  let database: Awaited<ReturnType<typeof createDatabase>>;
  const relay = createServer((client) => {
    const { hostname: host, port } = new URL(database.url);
    const upstream = connect(Number(port), host);
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  beforeAll(async () => {
    database = await createDatabase(server ?? '');
    mkdirSync(sockets);
    await once(relay.listen(join(sockets, '.s.PGSQL.5432')), 'listening');
    return () => void relay.close();
  });

  it.each([
    ['with its user and password', (user: string, password: string) => `postgresql://${user}:${password}@/`],
    ['with its user, and the password in a file', (user: string) => `postgresql://${user}@/`],
  ])('is used by a URL %s', async (_what, begin) => {
    const { username, password, pathname } = new URL(database.url);
    const file = join(directory.path, 'password');
    writeFileSync(file, decodeURIComponent(password));
    const url = `${begin(username, password)}${pathname.slice(1)}?host=${sockets}`;
    const { database: options, databaseWarnings } = parseConfig({ DATABASE_URL: url, PGPASSWORD_FILE: file });
    const opened = await openDatabase(options, { migrate: false });
    expect(await opened.em.execute('select current_database() as name')).toEqual([{ name: pathname.slice(1) }]);
    expect(databaseWarnings).toEqual([]);
  });
});

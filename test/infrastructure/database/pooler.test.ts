import { CompiledQuery } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MIGRATIONS } from '../../../src/adapters/mikro-orm/migrations.ts';
import { postgresqlKind } from '../../../src/adapters/mikro-orm/postgresql.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { openHeldLine } from '../../support/servers/held-line.ts';
import { canStartPgbouncer } from '../../support/servers/of-the-tests.ts';
import { ALIAS } from '../../support/servers/pgbouncer.ts';
import { onPostgresql } from '../../support/storage/databases.ts';
import { holdConnection } from '../../support/storage/hold-connection.ts';
import { openDatabase } from '../../support/storage/open-database.ts';
import { behindPgbouncer } from '../../support/storage/routes.ts';

/** PgBouncer gives each client its own values of these. */
const UNTRACKED = `name not in ('application_name', 'client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings')`;

describe.runIf(canStartPgbouncer())('behind PgBouncer in transaction mode', () => {
  // With one server connection, a start that needed a second one would wait for itself.
  it.each(['1', '5'])(
    'instances that start together make the tables once, over %s server connections',
    async (size) => {
      const { url } = await behindPgbouncer({ default_pool_size: size });
      const open = () => openDatabase({ ...onPostgresql(url), connectionTimeout: 20_000 }, { migrate: true });
      const instances = await Promise.all([open(), open()]);
      for (const { em } of instances) {
        const names = ['tables', ...MIGRATIONS.map(({ name }) => name)].toSorted();
        expect(await em.execute('select name from tandem_migrations order by name')).toEqual(
          names.map((name) => ({ name })),
        );
      }
    },
  );

  it('leaves no setting and no lock in the sessions that it shares with others', async () => {
    const { url } = await behindPgbouncer({ default_pool_size: '1' });
    const others = await openDatabase(onPostgresql(url), { migrate: false });
    const [before, locks] = [
      `select name, setting from pg_settings where source = 'session' and ${UNTRACKED}`,
      'select 1 from pg_locks',
    ];
    const atFirst = await others.em.execute(before);
    const service = await openDatabase(onPostgresql(url), { migrate: true });
    await storageOver(service.records).transactions.run(({ sessions }) => sessions.purge(Date.now(), 10));
    expect(await others.em.execute(before)).toEqual(atFirst);
    expect(await others.em.execute(`${locks} where locktype = 'advisory' and pid = pg_backend_pid()`)).toEqual([]);
  });

  it('nobody gets the answer to a statement of another whose connection broke', async () => {
    const { direct, url } = await behindPgbouncer({ default_pool_size: '1' });
    const line = await openHeldLine(url);
    const open = async (at: string) => {
      const { db, execute } = await postgresqlKind({ ...onPostgresql(at), poolSize: 1 }).connect();
      onTestFinished(() => db.destroy());
      const ask = async (text: string) => (await execute(CompiledQuery.raw(text), true)).rows;
      return { db, ask };
    };
    const [one, other, observer] = [await open(line.url), await open(url), await open(direct)];
    await other.ask('select');
    const release = await holdConnection(one.db);
    const answers = Promise.allSettled([one.ask('select 1'), one.ask(`select 'a secret' as it from pg_sleep(10)`)]);
    await release();
    const active = `select pid from pg_stat_activity where query like '%a secret%' and state = 'active' and pid <> pg_backend_pid()`;
    await expect.poll(() => observer.ask(active)).toHaveLength(1);
    line.close();
    expect(await other.ask(`select 'mine' as it`)).toEqual([{ it: 'mine' }]);
    await answers;
  });

  it('migrates a database that has another name in PgBouncer, and creates none of that name', async () => {
    const { direct, url } = await behindPgbouncer();
    const aliased = Object.assign(new URL(url), { pathname: `/${ALIAS}` }).href;
    await openDatabase(onPostgresql(aliased), { migrate: true });
    const server = await openDatabase(onPostgresql(direct), { migrate: false });
    expect(await server.em.execute('select count(*)::int as users from users')).toEqual([{ users: 0 }]);
    expect(await server.em.execute('select 1 from pg_database where datname = ?', [ALIAS])).toEqual([]);
  });

  it('names the startup parameter of DATABASE_URL that PgBouncer refuses', async () => {
    const { url } = await behindPgbouncer();
    const open = openDatabase(onPostgresql(`${url}?options=-c%20geqo%3Doff`), { migrate: false });
    await expect(open).rejects.toThrow(
      'The database of DATABASE_URL cannot be opened: the pooler refuses the startup parameter options; ' +
        'remove it from DATABASE_URL or from the PG* variables',
    );
  });
});

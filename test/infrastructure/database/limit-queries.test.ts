import { describe, expect, it } from 'vitest';
import { onPostgresql } from '../../support/storage/databases.ts';
import { openDatabase } from '../../support/storage/open-database.ts';
import { ROUTES } from '../../support/storage/routes.ts';

const SLEEPING = `select pid from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'
  and datname = current_database() and pid <> pg_backend_pid()`;

describe.each(ROUTES)('a query that takes too long, %s', (_name, route) => {
  const openBoth = async (limits: { statementTimeout: number; poolSize: number }) => {
    const { direct, url } = await route();
    const observer = await openDatabase(onPostgresql(direct), { migrate: false });
    const database = await openDatabase({ ...onPostgresql(url), ...limits }, { migrate: false });
    return { observer, database };
  };

  it('is cancelled in PostgreSQL, although no session has a limit, and the next query works', async () => {
    const { observer, database } = await openBoth({ statementTimeout: 300, poolSize: 1 });
    expect(await database.em.execute('show statement_timeout')).toEqual([{ statement_timeout: '0' }]);
    await expect(database.em.execute('select pg_sleep(600)')).rejects.toMatchObject({ code: '57014' });
    expect(await observer.em.execute(SLEEPING)).toEqual([]);
    expect(await database.em.execute('select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('leaves the queries of other connections alone', async () => {
    const { observer, database } = await openBoth({ statementTimeout: 300, poolSize: 4 });
    let cancelled = 0;
    const short = async () => {
      while (cancelled < 3) await database.em.execute('select pg_sleep(0.01)');
    };
    const long = async () => {
      for (; cancelled < 3; cancelled += 1) {
        await expect(database.em.execute('select pg_sleep(600)')).rejects.toMatchObject({ code: '57014' });
      }
    };
    await Promise.all([short(), short(), short(), long()]);
    expect(await observer.em.execute(SLEEPING)).toEqual([]);
  });
});

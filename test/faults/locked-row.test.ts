import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/infrastructure/database/database.ts';
import { heldFrom, refreshWith, signUp } from '../support/http/auth-http.ts';
import { startService } from '../support/http/service.ts';
import { inTransaction, onPostgresql } from '../support/storage/databases.ts';
import { ROUTES } from '../support/storage/routes.ts';

const WAITING = `select pid, query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

describe.each(ROUTES)('a refresh whose session is locked by somebody else, %s', (_name, route) => {
  // Proves: flood-10
  it('fails, leaves no statement behind that waits, and has not used its token up', async () => {
    const { direct, url } = await route();
    const service = await startService({
      DATABASE_URL: url,
      DATABASE_STATEMENT_TIMEOUT: '1s',
      BCRYPT_COST: '4',
    });
    onTestFinished(service.close);
    const other = await openDatabase(onPostgresql(direct), { migrate: false });
    onTestFinished(other.close);
    const { cookie } = await signUp(service);

    await inTransaction(other, async (send) => {
      await send('select id from sessions for update');
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const { status, body, headers } = await refreshWith(service, cookie);
        expect({ status, code: body.code, cookies: headers['set-cookie'] }).toEqual({
          status: 500,
          code: 'DB_QUERY_FAILED',
          cookies: undefined,
        });
        expect(await other.em.execute(WAITING)).toEqual([]);
      }
    });

    const next = heldFrom(await refreshWith(service, cookie).expect(200));
    await refreshWith(service, next.cookie).expect(200);
  });
});

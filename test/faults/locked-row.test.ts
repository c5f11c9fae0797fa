// Proves flood-10, flood-11
import { expect, it, vi } from 'vitest';
import { passwordHasher } from '../../src/adapters/crypto/password-hasher.ts';
import { refreshWith, signUp, tokensOf } from '../support/http/auth-http.ts';
import { startService } from '../support/http/service.ts';
import { LONG_TIMEOUTS, SOON } from '../support/processes/service-on-postgres.ts';
import { inTransaction, onPostgresql } from '../support/storage/databases.ts';
import { openDatabase } from '../support/storage/open-database.ts';
import { ROUTES } from '../support/storage/routes.ts';

const WAITING = `select pid, query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

it.each(ROUTES)(
  'a refresh whose session is locked by somebody else, %s fails, leaves no statement behind that waits, and has not used its token up',
  async (_name, route) => {
    const { direct, url } = await route();
    const service = await startService({
      DATABASE_URL: url,
      // A statement gets a sixth of it, and so does a connection.
      REQUEST_TIMEOUT_MS: '18000',
      BCRYPT_COST: '4',
    });
    const other = await openDatabase(onPostgresql(direct), { migrate: false });
    const { cookie } = await signUp(service);

    await inTransaction(other, async (send) => {
      await send('select id from sessions for update');
      const { status, body, headers } = await refreshWith(service, cookie);
      expect({ status, code: body.code, cookies: headers['set-cookie'] }).toEqual({
        status: 500,
        code: 'DB_QUERY_FAILED',
        cookies: undefined,
      });
      // The response may come before the server has cancelled the statement, which nothing else ends.
      await expect.poll(() => other.em.execute(WAITING)).toEqual([]);
    });

    const next = tokensOf(await refreshWith(service, cookie).expect(200));
    await refreshWith(service, next.cookie).expect(200);
  },
);

it.each(ROUTES)(
  'many log-ins of a user who is locked by somebody else, %s wait with one connection, and leave the others to everybody else',
  async (_name, route) => {
    const { direct, url } = await route();
    let compared = 0;
    const bcrypt = passwordHasher({ cost: 4 });
    const hasher: typeof bcrypt = {
      ...bcrypt,
      verify: async (...given) => {
        const matches = await bcrypt.verify(...given);
        compared += 1;
        return matches;
      },
    };
    const env = { ...LONG_TIMEOUTS, DATABASE_URL: url, DATABASE_POOL_SIZE: '2' };
    const service = await startService(env, { hasher });
    const other = await openDatabase(onPostgresql(direct), { migrate: false });
    const [locked, free] = [await signUp(service), await signUp(service)];
    const { username: account, password } = locked.person;
    const logIn = () => service.http.post('/auth/login').send({ account, password }).then();

    const logIns = await inTransaction(other, async (send) => {
      await send(`select id from users where username = '${account}' for update`);
      const sent = Array.from({ length: 4 }, logIn);
      await vi.waitFor(() => expect(compared).toBe(4), SOON);
      await vi.waitFor(async () => expect(await other.em.execute(WAITING)).toHaveLength(1), SOON);
      await refreshWith(service, free.cookie).expect(200);
      expect(await other.em.execute(WAITING)).toHaveLength(1);
      return sent;
    });
    expect((await Promise.all(logIns)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  },
);

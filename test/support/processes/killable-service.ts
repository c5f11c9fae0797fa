import { expect, vi } from 'vitest';
import { aPerson } from '../http/service.ts';
import { receivedFrom } from '../mail/received.ts';
import { openSmtpServer } from '../mail/smtp-server.ts';
import { startPostgres } from '../servers/of-the-tests.ts';
import { inTransaction, onPostgresql } from '../storage/databases.ts';
import { openDatabase } from '../storage/open-database.ts';
import { temporaryDirectory } from '../storage/temporary-directory.ts';
import { runService } from './process.ts';
import { ask, postJson } from './sessions-under-load.ts';

/** Milliseconds; the time-out only catches hangs. */
export const SOON = { timeout: 60_000, interval: 20 };

/** However slow the machine is, nothing is too late; only a hang is. */
export const LONG_TIMEOUTS = {
  REQUEST_TIMEOUT_MS: '600000',
};

const ENV = {
  ...LONG_TIMEOUTS,
  MAIL_FROM: 'auth@example.org',
  BCRYPT_COST: '4',
  RATE_LIMITS: 'off',
};

/** What waits for a lock on a table, except for what goes on in the background: mail is sent, and refused log-ins are counted. */
const waitingFor = (table: string) => `select pid from pg_locks join pg_stat_activity using (pid)
  where not granted and relation = '${table}'::regclass
    and query not like '%skip locked%' and query not like '%on conflict (user_id, refused_from)%'`;

/** The tables that this transaction has changed already. */
const changedByOneThatWaitsFor = (table: string) => `select relation::regclass::text as name from pg_locks
  where granted and mode = 'RowExclusiveLock' and pid in (${waitingFor(table)})
    and relation in (select oid from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace)
  order by name`;

/** Everything that is stored about a user in PostgreSQL. */
const ABOUT_USER = `
  select 'users' as place, to_jsonb(users) as row from users where id = ?
  union all select 'sessions', to_jsonb(sessions) from sessions where user_id = ?
  union all select 'events', to_jsonb(events) from events where user_id = ?
  union all select 'links', to_jsonb(links) from links where user_id = ?
  union all select 'outbox', to_jsonb(outbox) from outbox where user_id = ?
  order by 1, 2`;

/** What is killed. */
export type Victim = 'process' | 'postgresql';

export type KillableService = Awaited<ReturnType<typeof startKillable>>;

/** The service with a PostgreSQL and a mail server of its own, so that it and the PostgreSQL can be killed. */
export const startKillable = async (given: Readonly<Record<string, string>> = {}) => {
  const directory = temporaryDirectory();
  const postgres = await startPostgres();
  const smtp = await openSmtpServer();
  const database = await openDatabase(onPostgresql(postgres.url), { migrate: true });
  const env: Record<string, string> = {
    ...ENV,
    DATABASE_URL: postgres.url,
    DATA_DIR: directory.path,
    MAIL_URL: `smtp://127.0.0.1:${smtp.port}`,
    ...given,
  };
  let service = await runService(env);
  const isReady = () =>
    vi.waitFor(async () => expect((await ask(`${service.url}/health/ready`)).status).toBe(200), SOON);
  await isReady();

  const kill: Record<Victim, () => Promise<unknown>> = {
    process: () => service.stop('SIGKILL'),
    postgresql: () => postgres.kill(),
  };
  const restart: Record<Victim, () => Promise<unknown>> = {
    process: async () => {
      service = await runService(env);
    },
    postgresql: () => postgres.restart(),
  };

  /** Runs `work` while nothing can be written to a table; reading it is let through. */
  const whileLocked = (table: string, work: () => Promise<unknown>) =>
    inTransaction(database, async (send) => {
      await send(`lock table ${table} in exclusive mode`);
      await work();
    });
  /** Runs `work` while no session can be changed. */
  const whileRowsLocked = (work: () => Promise<unknown>) =>
    inTransaction(database, async (send) => {
      await send('select id from sessions for update');
      await work();
    });
  /** Runs `work` while the process of the service gets no time. */
  const whileStopped = async (work: () => Promise<unknown>) => {
    service.child.kill('SIGSTOP');
    await work().finally(() => service.child.kill('SIGCONT'));
  };
  const changedBefore = async (table: string): Promise<readonly string[]> => {
    const rows = await database.em.execute<{ name: string }[]>(changedByOneThatWaitsFor(table));
    return rows.map(({ name }) => name);
  };

  return {
    env,
    url: () => service.url,
    whileRowsLocked,
    whileStopped,
    query: (sql: string, parameters: readonly unknown[] = []) => database.em.execute(sql, [...parameters]),
    aboutUser: (id: string) => database.em.execute(ABOUT_USER, [id, id, id, id, id]),
    kill: (victim: Victim) => kill[victim](),
    /** Starts again what was killed, and waits until the service can use it. */
    restart: async (victim: Victim) => {
      await restart[victim]();
      await isReady();
    },
    /**
     * Strikes while the request waits for the last of the tables that it changes, and has changed the others. Then lets it go on.
     * @returns what became of the request.
     */
    interrupt: async <Result>(
      tables: readonly string[],
      request: () => Promise<Result>,
      strike: () => Promise<unknown>,
    ) => {
      const last = tables.at(-1) ?? expect.unreachable();
      let hasStruck = false;
      let outcome: Promise<PromiseSettledResult<Result>[]> = Promise.resolve([]);
      const locked = whileLocked(last, async () => {
        outcome = Promise.allSettled([request()]);
        // Something else may wait for the table, too: mail that is sent.
        const others = tables.slice(0, -1).toSorted();
        await vi.waitFor(async () => expect(await changedBefore(last)).toEqual(others), SOON);
        await strike();
        hasStruck = true;
      });
      await locked.catch((error: unknown) => {
        // The lock itself is gone with a PostgreSQL that was killed.
        if (!hasStruck) throw error;
      });
      const [settled] = await outcome;
      return settled?.status === 'fulfilled' ? settled.value : null;
    },
    /** Waits until no mail is to be sent any more. */
    untilSent: () =>
      vi.waitFor(async () => expect(await database.em.execute('select id from outbox')).toEqual([]), SOON),
    /** The mails to an address so far, the latest last. */
    mailsTo: (address: string) =>
      Promise.all(
        smtp.messages.filter(({ recipients }) => recipients.includes(address)).map(({ raw }) => receivedFrom(raw)),
      ),
    close: async () => {
      await service.stop('SIGKILL');
      await database.close();
      await Promise.all([postgres.stop(), smtp.close()]);
      directory.remove();
    },
  };
};

export type Account = Awaited<ReturnType<typeof accountAt>>;

/** Somebody who has registered, and holds the tokens of a session. */
export const accountAt = async (url: string) => {
  const person = aPerson();
  const { cookie = '', status, body } = await postJson(`${url}/auth/register`, person);
  if (status !== 201) throw new Error(`registering answered ${status}`);
  const { data } = body as { readonly data: { readonly accessToken: string; readonly user: { readonly id: string } } };
  return { ...person, id: data.user.id, accessToken: data.accessToken, cookie };
};

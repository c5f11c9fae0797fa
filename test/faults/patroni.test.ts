import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { testKeys } from '../support/keys.ts';
import { keyVariables } from '../support/processes/environments.ts';
import { type RunningService, runService } from '../support/processes/process.ts';
import { type Holder, signUpAt } from '../support/processes/sessions-under-load.ts';
import { canStartPgbouncer } from '../support/servers/of-the-tests.ts';
import { launchPatroni, type Member, type PatroniCluster } from '../support/servers/patroni.ts';
import { providePatroni } from '../support/servers/patroni-programs.ts';
import { onPostgresql } from '../support/storage/databases.ts';
import { type Database, openDatabase } from '../support/storage/open-database.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const USERS = 40;
/** Milliseconds; the time-out only catches hangs. */
const PATIENCE = { timeout: 120_000, interval: 250 };
/** How many refresh at once, and how many milliseconds a refresh takes at least: a load that leaves room for everything else. */
const [AT_ONCE, EVERY] = [8, 200];
/** Refreshes before and after what happens. */
const SOME = 40;

type Scene = {
  readonly former: Member;
  readonly database: Database;
  /** Resolves after some more refreshes. */
  readonly goOn: () => Promise<void>;
};

/** What happens to the primary. `loses`: whether the cluster forgets refreshes that were answered. */
const SCENES = [
  {
    name: 'asynchronous, the primary is killed with writes that no replica has',
    synchronous: false,
    loses: true,
    strike: async ({ former, database, goOn }: Scene) => {
      const senders = await database.em.execute<{ pid: number }[]>('select pid from pg_stat_replication');
      for (const { pid } of senders) process.kill(pid, 'SIGSTOP');
      await goOn();
      await former.kill();
    },
    mend: (former: Member) => former.restart(),
  },
  {
    name: 'synchronous, the primary is cut off from etcd, and takes connections',
    synchronous: true,
    loses: false,
    strike: async ({ former }: Scene) => former.cutOff(),
    mend: async (former: Member) => former.reconnect(),
  },
];

describe.runIf(canStartPgbouncer())(
  `two instances, ${USERS} users and a PostgreSQL of three servers under Patroni`,
  () => {
    const directory = temporaryDirectory();
    const cleanups: (() => Promise<unknown>)[] = [];
    const running: RunningService[] = [];
    let cluster: PatroniCluster;
    let database: Database;
    let holders: readonly Holder[];

    beforeAll(async () => {
      const { programs, remove } = await providePatroni();
      cleanups.push(remove);
      cluster = await launchPatroni(programs);
      cleanups.push(cluster.stop);
      database = await openDatabase(onPostgresql(cluster.url), { migrate: true });
      cleanups.push(database.close);
      const env = {
        ...keyVariables(testKeys()),
        DATABASE_URL: cluster.url,
        DATA_DIR: directory.path,
        BCRYPT_COST: '4',
        RATE_LIMITS: 'off',
      };
      for (let instance = 0; instance < 2; instance += 1) {
        const service = await runService(env);
        running.push(service);
        cleanups.push(() => service.stop('SIGKILL'));
      }
      const signedUp: Holder[] = [];
      while (signedUp.length < USERS)
        signedUp.push(...(await Promise.all(Array.from({ length: 20 }, () => signUpAt(anyUrl())))));
      holders = signedUp;
    });
    afterAll(async () => {
      for (const clean of cleanups.toReversed()) await clean();
    });

    const anyUrl = () => running[Math.floor(Math.random() * running.length)]?.url ?? expect.unreachable();

    /**
     * Refreshes one session after the other, over both instances; what failed is repeated with the same cookie.
     * @returns what waits for some refreshes, and what stops.
     */
    const refreshOn = () => {
      let going = true;
      let turn = 0;
      let succeeded = 0;
      const refreshNext = async () => {
        const { refresh } = holders[turn++ % USERS] ?? expect.unreachable();
        if ((await refresh(anyUrl())).status === 200) succeeded += 1;
      };
      const loops = Array.from({ length: AT_ONCE }, async () => {
        while (going) await Promise.all([refreshNext(), pause(EVERY)]);
      });
      return {
        goOn: async () => {
          const before = succeeded;
          await vi.waitFor(() => expect(succeeded).toBeGreaterThan(before + SOME), PATIENCE);
        },
        stop: async () => {
          going = false;
          await Promise.all(loops);
        },
      };
    };
    const failures = () => holders.flatMap((holder) => holder.failures);
    const untilAllRefreshed = async () => {
      const before = holders.map(({ refreshes }) => refreshes());
      await vi.waitFor(() => {
        const waiting = holders.filter(({ refreshes }, at) => refreshes() <= (before[at] ?? 0));
        if (waiting.length > 0)
          throw new Error(`${waiting.length} users wait: ${JSON.stringify(waiting[0]?.failures.at(-1))}`);
      }, PATIENCE);
    };
    const eventsOf = async (kind: string): Promise<number> => {
      const rows = await vi.waitFor(() => database.em.execute('select 1 from events where kind = ?', [kind]), PATIENCE);
      return rows.length;
    };

    const anotherPrimary = (former: Member) =>
      vi.waitFor(async () => {
        if ((await cluster.primary()).name === former.name) throw new Error(`${former.name} is still the primary`);
      }, PATIENCE);

    it.each(SCENES)('$name: nobody is logged out, and errors end', async ({ synchronous, strike, mend, loses }) => {
      await cluster.setSynchronous(synchronous);
      const former = await cluster.primary();
      const recovered = await eventsOf('session-recovered');
      const refreshing = refreshOn();
      try {
        await refreshing.goOn();
        await strike({ former, database, goOn: refreshing.goOn });
        await anotherPrimary(former);
        await untilAllRefreshed();
      } finally {
        await refreshing.stop();
        await mend(former);
      }
      expect(new Set(failures().map(({ code }) => code))).toEqual(new Set(['DB_QUERY_FAILED']));
      expect(await eventsOf('session-ended')).toBe(0);
      expect((await eventsOf('session-recovered')) > recovered).toBe(loses);
    });
  },
);

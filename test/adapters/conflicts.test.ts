import { describe, expect, it, onTestFinished } from 'vitest';
import { translated, unlessRolledBack } from '../../src/adapters/mikro-orm/queries.ts';
import { mikroOrmSessionRepository } from '../../src/adapters/session-repository/mikro-orm.ts';
import { mikroOrmUserRepository } from '../../src/adapters/user-repository/mikro-orm.ts';
import { type Database, openDatabase } from '../../src/infrastructure/database/database.ts';
import { aRotation, aSession, aUser } from '../support/builders.ts';
import { createDatabase, inTransaction, onPostgresql, TEST_DATABASE_URL } from '../support/storage/databases.ts';

/** Rejects with the SQLSTATE codes in turn, then resolves. */
const failing = (...codes: readonly string[]) => {
  let sent = 0;
  const query = async () => {
    const code = codes[sent];
    sent += 1;
    if (code !== undefined) throw Object.assign(new Error('refused'), { code });
    return 'done';
  };
  return { query, sent: () => sent };
};

describe('a query that fails', () => {
  it.each(['40001', '40P01'])('is sent once more after %s, since it was rolled back', async (code) => {
    const once = failing(code);
    expect(await translated(once.query)).toBe('done');
    expect(once.sent()).toBe(2);

    const always = failing(code, code, code);
    await expect(translated(always.query)).rejects.toMatchObject({ code: 'DB_QUERY_FAILED' });
    expect(always.sent()).toBe(2);
  });

  it.each(['08006', '08P01', '57P01', '57014', '40003', '23505', 'ECONNRESET'])(
    'is not sent again after %s',
    async (code) => {
      const { query, sent } = failing(code);
      await expect(translated(query)).rejects.toMatchObject({ name: 'AppError' });
      expect(sent()).toBe(1);
    },
  );

  it('is known to have been rolled back when the server says so, and only then', async () => {
    expect(await unlessRolledBack(failing('57014').query)).toBeNull();
    expect(await unlessRolledBack(failing('40001', '40P01').query)).toBeNull();
    expect(await unlessRolledBack(failing('40001').query)).toBe('done');
    for (const code of ['08006', '08P01', '57P01', '40003', 'ECONNRESET']) {
      await expect(unlessRolledBack(failing(code).query)).rejects.toMatchObject({ code: 'DB_QUERY_FAILED' });
    }
  });
});

describe.runIf(TEST_DATABASE_URL !== undefined)('the repository of sessions', () => {
  const WAITING = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

  /** Two sessions of one user in a database with a default isolation level. */
  const open = async (isolation: string) => {
    const { url, drop } = await createDatabase(TEST_DATABASE_URL ?? '');
    onTestFinished(drop);
    const other = await openDatabase(onPostgresql(url), { migrate: true });
    onTestFinished(other.close);
    await other.em.execute(`do $$ begin execute format(
      'alter database %I set default_transaction_isolation = ''${isolation}''', current_database()); end $$`);
    const database = await openDatabase(onPostgresql(url), { migrate: false });
    onTestFinished(database.close);
    const user = aUser();
    await mikroOrmUserRepository(database).add(user);
    const sessions = mikroOrmSessionRepository(database);
    const stored = [aSession({ userId: user.id }), aSession({ userId: user.id })] as const;
    for (const session of stored) await sessions.add(session);
    return { other, sessions, stored, user };
  };

  const untilOneWaits = ({ em }: Database) => expect.poll(async () => (await em.execute(WAITING)).length).toBe(1);
  const deadlocks = async ({ em }: Database): Promise<number> => {
    const [{ count }] = (await em.execute(
      'select deadlocks::int as count from pg_stat_database where datname = current_database()',
    )) as [{ count: number }];
    return count;
  };

  /** Ends the sessions of a user while a transaction holds one of them and asks for the other. @returns the outcome. */
  const endInDeadlock = async () => {
    const { other, sessions, stored, user } = await open('read committed');
    const [first, second] = stored;
    const { ended } = await inTransaction(other, async (send) => {
      // The victim is the one that detects the deadlock: not this one.
      await send(`set local deadlock_timeout = '1h'`);
      await send('select id from sessions where id = $1 for update', [second.id]);
      const ended = Promise.allSettled([sessions.endByUser(user.id, null)]);
      await untilOneWaits(other);
      await send('select id from sessions where id = $1 for update', [first.id]);
      return { ended };
    });
    const [outcome] = await ended;
    await expect.poll(() => deadlocks(other)).toBeGreaterThan(0);
    return { outcome, left: await sessions.listByUser(user.id, 0) };
  };

  it('survives a deadlock, unless a second one follows', async () => {
    for (let round = 0; ; round += 1) {
      const { outcome, left } = await endInDeadlock();
      if (outcome.status === 'fulfilled') return expect(left).toEqual([]);
      expect(outcome.reason).toMatchObject({ code: 'DB_QUERY_FAILED' });
      // A second deadlock needs a transaction that was not woken within the pause.
      expect(round).toBeLessThan(9);
    }
  });

  it.each(['repeatable read', 'serializable'])('survives a concurrent update in %s', async (level) => {
    const { other, sessions, stored } = await open(level);
    const [session] = stored;
    const rotation = aRotation(session);
    const rotating = await inTransaction(other, async (send) => {
      await send('update sessions set user_agent = null where id = $1', [session.id]);
      const rotated = sessions.rotate(rotation);
      await untilOneWaits(other);
      return { rotated };
    });
    expect(await rotating.rotated).toHaveProperty('user');
    expect(await sessions.find(session)).toMatchObject({ currentTokenId: rotation.to });
  });

  it('lets exactly one of many concurrent rotations of a token win in a serializable database', async () => {
    const { sessions, stored } = await open('serializable');
    const [session] = stored;
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => sessions.rotate(aRotation(session))));
    expect(outcomes.filter((outcome) => typeof outcome === 'object')).toHaveLength(1);
  });
});

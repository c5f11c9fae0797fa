import { type Kysely, sql } from 'kysely';
import type { Tables } from '../mikro-orm/rows.ts';

/** Key of the advisory lock for purging; an arbitrary number that no other program uses. */
const PURGE_LOCK = 7_263_501_949;

/** Epoch milliseconds of the database clock, when the statement started. The planner can use an index with it. */
const statementTime = sql<number>`(date_part('epoch', statement_timestamp()) * 1000)::bigint`;

/** How many sessions one purge may look at, and how many of those it may delete. */
type PurgeLimits = { readonly due: number; readonly expired: number };

/**
 * Looks at the sessions whose check is due, in the order of the checks. Those that were refreshed since have their next check when they
 * expire; the others have expired at the time of their check, and are deleted, those that expired first first. One instance at a time:
 * while another holds the lock, nothing is done. Skips locked rows. A check has to be due by the database clock as well, so that an
 * instance whose clock is ahead deletes no live session. Returns a row for each deleted session, or one without a session, and in each
 * row how many were looked at.
 */
export const purgeDue = (db: Kysely<Tables>, now: number, limits: PurgeLimits) =>
  db
    .with('lock', () =>
      db.selectNoFrom((eb) => eb.fn<boolean>('pg_try_advisory_xact_lock', [eb.val(PURGE_LOCK)]).as('acquired')),
    )
    .with('due', (query) =>
      query
        .selectFrom('sessions')
        .select(['id', 'expires_at', 'purge_check_at'])
        .where((eb) => eb('purge_check_at', '<=', eb.fn<number>('least', [eb.val(now), statementTime])))
        .where((eb) => eb.selectFrom('lock').select('acquired'))
        .orderBy('purge_check_at')
        .limit(limits.due)
        .forUpdate()
        .skipLocked(),
    )
    // An array is looked up by the primary key; a join might scan the whole table.
    .with('postponed', (query) =>
      query
        .updateTable('sessions')
        .set((eb) => ({ purge_check_at: eb.ref('expires_at').$castTo<number>() }))
        .where((eb) => {
          const refreshed = eb.selectFrom('due').select('due.id').whereRef('due.expires_at', '>', 'due.purge_check_at');
          return eb('id', '=', eb.fn.any(eb.fn<string[]>('array', [refreshed])));
        }),
    )
    .with('purged', (query) =>
      query
        .deleteFrom('sessions')
        .where((eb) => {
          const expired = eb
            .selectFrom('due')
            .select('due.id')
            .whereRef('due.expires_at', '<=', 'due.purge_check_at')
            .orderBy('due.purge_check_at')
            .limit(limits.expired);
          return eb('id', '=', eb.fn.any(eb.fn<string[]>('array', [expired])));
        })
        .returning(['id', 'user_id']),
    )
    .with('looked_at', (query) => query.selectFrom('due').select((eb) => eb.fn.countAll().as('due')))
    .selectFrom('looked_at')
    .leftJoin('purged', (join) => join.onTrue())
    .select(['looked_at.due', 'purged.id', 'purged.user_id']);

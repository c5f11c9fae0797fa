import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import { EARLIER_TOKENS_KEPT, type Rotation, SESSIONS_PER_USER, type Session } from '../../domain/session.ts';
import type { Tables } from '../mikro-orm/rows.ts';
import { toRow } from './sql-rows.ts';

/** Builds the statements on table `sessions` that need an explanation. The repository executes them. */

/** Key of the advisory lock for purging; an arbitrary number that no other program uses. */
const PURGE_LOCK = 7_263_501_949;

/** Epoch seconds of the database clock, read when a row is checked, not when the statement starts. */
export const clockOf = <Db, Table extends keyof Db>(eb: ExpressionBuilder<Db, Table>) =>
  eb.fn<number>('date_part', [eb.val('epoch'), eb.fn('clock_timestamp', [])]);

/**
 * `+ 0` keeps the planner from the index on `expires_at`. With statistics from a time when nearly all sessions had expired, it
 * would prefer that index and then scan every live session.
 */
const liveAt = (now: number) => (eb: ExpressionBuilder<Tables, 'sessions'>) => eb(eb('expires_at', '+', 0), '>', now);

/** The live sessions of a user, sorted as by `byLastUse`. */
export const liveSessions = (db: Kysely<Tables>, userId: string, now: number) =>
  db
    .selectFrom('sessions')
    .where('user_id', '=', userId)
    .where(liveAt(now))
    .orderBy('rotated_at', 'desc')
    .orderBy('id', 'desc');

/** Inserts a session and returns how many others its user has, expired ones included, in the snapshot of this statement. */
export const addCounting = (db: Kysely<Tables>, session: Session) =>
  db
    .insertInto('sessions')
    .values(toRow(session))
    .returning(
      db
        .selectFrom('sessions as earlier')
        .where('earlier.user_id', '=', session.userId)
        .select((eb) => eb.fn.countAll().as('count'))
        .as('others'),
    );

/** How many concurrent inserts of one user the count may miss, since none sees the others. */
const CONCURRENT_INSERTS = SESSIONS_PER_USER / 2;

/** Whether the user may have more than SESSIONS_PER_USER sessions. Saves nearly every login the second statement. */
export const mayBeTooMany = (others: number | string | bigint | null): boolean =>
  Number(others) + CONCURRENT_INSERTS >= SESSIONS_PER_USER;

/**
 * Deletes the sessions beyond SESSIONS_PER_USER after an insert. A separate statement, so that the last of several concurrent
 * inserts sees the rows of all. Locked rows are skipped: they are being deleted already, or are in use.
 */
export const endSurplus = (db: Kysely<Tables>, { userId, createdAt }: Session) =>
  db
    .with('surplus', () =>
      db
        .selectFrom('sessions')
        .select('id')
        .where('id', 'in', liveSessions(db, userId, createdAt).select('id').offset(SESSIONS_PER_USER))
        .forUpdate()
        .skipLocked(),
    )
    .deleteFrom('sessions')
    .where('id', 'in', (query) => query.selectFrom('surplus').select('id'));

/**
 * Compare-and-swap of the current token. The row is locked first and the time is read then, since the lock may be had only after
 * the deadline.
 * @param deadline epoch milliseconds of the database clock; from then on nothing changes.
 */
export const rotateBefore = (
  db: Kysely<Tables>,
  deadline: number,
  { sessionId, userId, from, to, at, expiresAt, racesSince }: Rotation,
) =>
  db
    .with('locked', () =>
      db
        .selectFrom('sessions')
        .select('id')
        .where('id', '=', sessionId)
        .where('user_id', '=', userId)
        .where('current_token_id', '=', from)
        .where(liveAt(at))
        .forNoKeyUpdate(),
    )
    .updateTable('sessions')
    .set({
      current_token_id: to,
      previous_token_id: from,
      rotated_at: at,
      earlier_tokens: earlierTokensAfter(racesSince),
      expires_at: expiresAt,
    })
    .where('id', '=', (query) =>
      query
        .selectFrom('locked')
        .select('id')
        .where((eb) => eb(clockOf(eb), '<', deadline / 1000)),
    );

/** Same rule as in domain/session.ts, on the values before the update. */
const earlierTokensAfter = (racesSince: number) => sql<never>`case
  when previous_token_id is null or rotated_at < ${racesSince} then '[]'::jsonb
  else jsonb_path_query_array(
    jsonb_build_array(jsonb_build_object('tokenId', previous_token_id, 'rotatedAt', rotated_at)) || earlier_tokens,
    ${sql.lit(`$[0 to ${EARLIER_TOKENS_KEPT - 1}]`)}
  ) end`;

/** Also matches the row before the rotation, so that it waits for a rotation in progress instead of missing it. */
export const revertRotation = (db: Kysely<Tables>, { sessionId, userId, from, to }: Rotation) =>
  db
    .updateTable('sessions')
    .set({ current_token_id: from })
    .where('id', '=', sessionId)
    .where('user_id', '=', userId)
    .where('current_token_id', 'in', [from, to]);

/** Epoch milliseconds of the database clock, when the statement started. The planner can use an index with it. */
const statementTime = sql<number>`(date_part('epoch', statement_timestamp()) * 1000)::bigint`;

/**
 * Deletes expired sessions, one instance at a time: while another holds the lock, nothing is deleted. Skips locked rows. A session
 * has to be expired by the database clock as well, so that an instance whose clock is ahead deletes no live session.
 */
export const purgeExpired = (db: Kysely<Tables>, now: number, limit: number) =>
  db
    .with('lock', () =>
      db.selectNoFrom((eb) => eb.fn<boolean>('pg_try_advisory_xact_lock', [eb.val(PURGE_LOCK)]).as('acquired')),
    )
    .with('expired', (query) =>
      query
        .selectFrom('sessions')
        .select('id')
        .where((eb) => eb('expires_at', '<=', eb.fn<number>('least', [eb.val(now), statementTime])))
        .where((eb) => eb.selectFrom('lock').select('acquired'))
        .orderBy('expires_at')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .deleteFrom('sessions')
    // An array is looked up by the primary key; a join might scan the whole table.
    .where((eb) => eb('id', '=', eb.fn.any(eb.fn<string[]>('array', [eb.selectFrom('expired').select('id')]))));

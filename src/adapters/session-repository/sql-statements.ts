import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import { EARLIER_TOKENS_KEPT, type Rotation, SESSIONS_PER_USER, type Session } from '../../domain/session.ts';
import type { Tables } from '../mikro-orm/rows.ts';
import { toRow } from './sql-rows.ts';

/** The statements on table `sessions` that need a word. Each is built here and carried out by the repository. */

/** The number of an advisory lock that no other program takes. */
const PURGE_LOCK = 7_263_501_949;

/** Epoch seconds by the database's clock, read when a row is judged and not when the statement began. */
export const clockOf = (eb: ExpressionBuilder<Tables, never>) =>
  eb.fn<number>('date_part', [eb.val('epoch'), eb.fn('clock_timestamp', [])]);

/**
 * Never by the index of `expires_at`: where nearly all sessions are over, that looks best to a planner, until many are live
 * whom it has not counted yet.
 */
const liveAt = (now: number) => (eb: ExpressionBuilder<Tables, 'sessions'>) => eb(eb('expires_at', '+', 0), '>', now);

/** The live sessions of a user, in the order of `byLastUse`. */
export const liveSessions = (db: Kysely<Tables>, userId: string, now: number) =>
  db
    .selectFrom('sessions')
    .where('user_id', '=', userId)
    .where(liveAt(now))
    .orderBy('rotated_at', 'desc')
    .orderBy('id', 'desc');

/** Adds a session and counts those that its user had, over or live, as far as this statement sees. */
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

/** So many sessions of one user may be added at one moment without seeing one another. */
const UNSEEN = SESSIONS_PER_USER / 2;

/** Whether it is worth looking for a surplus: hardly any user has so many sessions. */
export const mayBeTooMany = (others: number | string | bigint | null): boolean =>
  Number(others) + UNSEEN >= SESSIONS_PER_USER;

/**
 * Ends what a session just added is too much. After the insert and not with it: the last of several that add at once sees what
 * all of them have added. Rows that somebody writes are passed over: they are being ended already, or used.
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

/** Compares and swaps. @param deadline epoch milliseconds by the database's clock, from which on nothing is changed. */
export const rotateBefore = (
  db: Kysely<Tables>,
  deadline: number,
  { sessionId, userId, from, to, at, expiresAt, racesSince }: Rotation,
) =>
  db
    .updateTable('sessions')
    .set({
      current_token_id: to,
      previous_token_id: from,
      rotated_at: at,
      earlier_tokens: earlierTokensAfter(racesSince),
      expires_at: expiresAt,
    })
    .where('id', '=', sessionId)
    .where('user_id', '=', userId)
    .where('current_token_id', '=', from)
    .where(liveAt(at))
    .where((eb) => eb(clockOf(eb as never), '<', deadline / 1000));

/** As in domain/session.ts, of the row as it was. */
const earlierTokensAfter = (racesSince: number) => sql<never>`case
  when previous_token_id is null or rotated_at < ${racesSince} then '[]'::jsonb
  else jsonb_path_query_array(
    jsonb_build_array(jsonb_build_object('tokenId', previous_token_id, 'rotatedAt', rotated_at)) || earlier_tokens,
    ${sql.lit(`$[0 to ${EARLIER_TOKENS_KEPT - 1}]`)}
  ) end`;

/** Matches the row before the rotation too: so it waits for one that is under way, and none can slip in behind it. */
export const revertRotation = (db: Kysely<Tables>, { sessionId, userId, from, to }: Rotation) =>
  db
    .updateTable('sessions')
    .set({ current_token_id: from })
    .where('id', '=', sessionId)
    .where('user_id', '=', userId)
    .where('current_token_id', 'in', [from, to]);

/** By one instance at a time: another finds the lock taken, and purges nothing. Rows that are being rotated are passed over. */
export const purgeOver = (db: Kysely<Tables>, now: number, limit: number) =>
  db
    .with('turn', () =>
      db.selectNoFrom((eb) => eb.fn<boolean>('pg_try_advisory_xact_lock', [eb.val(PURGE_LOCK)]).as('mine')),
    )
    .with('over', (query) =>
      query
        .selectFrom('sessions')
        .select('id')
        .where('expires_at', '<=', now)
        .where((eb) => eb.selectFrom('turn').select('mine'))
        .orderBy('expires_at')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .deleteFrom('sessions')
    // As an array, which is looked up by the primary key; a join may read the table through.
    .where((eb) => eb('id', '=', eb.fn.any(eb.fn<string[]>('array', [eb.selectFrom('over').select('id')]))));

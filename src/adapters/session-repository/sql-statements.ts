import { type Kysely, sql } from 'kysely';
import { type DeviceProof, PROOFS_KEPT } from '../../domain/device-binding.ts';
import { nextNumber, type Rotation, SESSIONS_PER_USER, type Session, type SessionKey } from '../../domain/session.ts';
import { clockOf } from '../mikro-orm/clock.ts';
import { type NewRow, type Tables, TOKEN_USER_COLUMNS, USER_COLUMNS } from '../mikro-orm/rows.ts';
import { statement } from '../mikro-orm/statement.ts';

/** Builds the statements on table `sessions` that need an explanation. The repository executes them. */

/** The live sessions of a user, sorted as by `byLastUse`. */
const liveSessions = (db: Kysely<Tables>, userId: string, now: number) =>
  db
    .selectFrom('sessions')
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .orderBy('rotated_at', 'desc')
    .orderBy('id', 'desc');

/** The array as PostgreSQL writes it: the drivers differ in how they pass one. */
const toArray = (numbers: readonly number[]) => sql<number[]>`${`{${numbers.join(',')}}`}::bigint[]`;

const toRow = (session: Session): Omit<NewRow<'sessions'>, 'earlier_tokens' | 'proofs'> => ({
  id: session.id,
  user_id: session.userId,
  current_token_id: session.currentTokenId,
  previous_token_id: session.previousTokenId,
  rotated_at: session.rotatedAt,
  rotation: session.rotation,
  run_started_at: session.runStartedAt,
  run_first: session.runFirst,
  created_at: session.createdAt,
  expires_at: session.expiresAt,
  purge_check_at: session.expiresAt,
  user_agent: session.userAgent,
  address: session.address,
  device_key: session.deviceKey,
  browser_key: session.browserKey,
  authenticated_at: session.authenticatedAt,
  amr: session.amr.join(' '),
  known_at: session.knownAt,
  held_at: session.heldAt,
});

/** Inserts a session, and returns how many others its user has in the snapshot of this statement, expired ones included. */
export const addCounting = (db: Kysely<Tables>, session: Session) =>
  db
    .insertInto('sessions')
    .values({ ...toRow(session), proofs: toArray(session.proofs) })
    .returning(
      db
        .selectFrom('sessions as earlier')
        .where('earlier.user_id', '=', session.userId)
        .select((eb) => eb.fn.countAll().as('count'))
        .as('others'),
    );

/** The count may miss this many concurrent inserts of one user, which do not see each other. */
const CONCURRENT_INSERTS = SESSIONS_PER_USER / 2;

/** Whether the user may have more than SESSIONS_PER_USER sessions. Saves nearly every log-in a second statement. */
export const mayBeTooMany = (others: number | string | bigint | null): boolean =>
  Number(others) + CONCURRENT_INSERTS >= SESSIONS_PER_USER;

/**
 * Deletes the sessions beyond SESSIONS_PER_USER. A separate statement after the insert, so that the last of several concurrent inserts sees
 * all rows. Skips locked rows, which are in use or being deleted.
 */
export const evictSessions = (db: Kysely<Tables>, { userId, createdAt }: Session) =>
  db
    .with('evicted', () =>
      db
        .selectFrom('sessions')
        .select('id')
        .where('id', 'in', liveSessions(db, userId, createdAt).select('id').offset(SESSIONS_PER_USER))
        .forUpdate()
        .skipLocked(),
    )
    .deleteFrom('sessions')
    .where('id', 'in', (query) => query.selectFrom('evicted').select('id'))
    .returning('id');

/** Locks the user of a session until the transaction ends. */
export const lockUser = (db: Kysely<Tables>, { userId }: Session) =>
  db.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate();

/**
 * Deletes a session. Locks its user first, as units that end all sessions of a user do: otherwise, this unit would lock the user later
 * (with the event) and could deadlock with them.
 */
export const endOne = (db: Kysely<Tables>, { id, userId }: SessionKey) =>
  db
    .with('locked', () => db.selectFrom('users').select('id').where('id', '=', userId).forKeyShare())
    .deleteFrom('sessions')
    .where('id', '=', id)
    .where('user_id', '=', (query) => query.selectFrom('locked').select('locked.id'));

type ProofValues = { readonly proofKey: string | null; readonly proofNumber: number | null };

/** Whether a proof is of the key of the page, and was not used (`withProof`). */
const isUnusedProof = ({ proofKey, proofNumber }: ProofValues) =>
  sql<boolean>`(device_key = ${proofKey}::text and ${proofNumber}::bigint <> all (proofs)
    and coalesce(${proofNumber}::bigint > proofs[${sql.lit(PROOFS_KEPT)}], true))`;

/** The proofs with this one. */
const withProof = ({ proofNumber }: ProofValues) =>
  sql<number[]>`(array(select number from unnest(proofs || ${proofNumber}::bigint) number
    order by number desc limit ${sql.lit(PROOFS_KEPT)}))`;

/** Whether a request shows the device of the session, or need not (`deviceStatus`). */
const showsDevice = (values: RotationValues) =>
  sql<boolean>`(not ${values.required}::boolean or (device_key is null and browser_key is null)
    or browser_key = ${values.browserKey}::text or ${isUnusedProof(values)})`;

const proofsAfter = (proof: ProofValues) =>
  sql<number[]>`case when ${isUnusedProof(proof)} then ${withProof(proof)} else proofs end`;

type RotationValues = Omit<Rotation, 'evidence' | 'device'> &
  Rotation['device'] &
  ProofValues & {
    readonly required: boolean;
    /** The number of the next token. */
    readonly next: number;
    readonly browserKey: string | null;
    /** Epoch seconds of the database clock. From then on, nothing is changed. */
    readonly deadline: number;
  };

export const toRotationValues = (
  { evidence: { required, proof, browserKey }, device: { userAgent, address }, ...rotation }: Rotation,
  deadline: number,
): RotationValues => ({
  ...rotation,
  next: nextNumber(rotation),
  userAgent,
  address,
  required,
  browserKey,
  proofKey: proof?.key ?? null,
  proofNumber: proof?.number ?? null,
  deadline,
});

/** The columns of a session that are read with its user, under names that no column of the user has. */
const SESSION_COLUMNS = [
  'user_id',
  'expires_at as session_expires_at',
  'created_at as session_created_at',
  'authenticated_at',
  'amr',
  'known_at',
  'held_at',
] as const;
const OF_SESSION = [
  'session_expires_at',
  'session_created_at',
  'authenticated_at',
  'amr',
  'known_at',
  'held_at',
] as const;

/** When a session expires that is rotated (`expiryAfter`). `null` has no effect in `least`. */
const expiryAfter = ({ expiresAt, maxAge }: RotationValues) =>
  sql<number>`least(${expiresAt}::bigint, coalesce(authenticated_at, created_at) + ${maxAge}::bigint)`;

/**
 * Compares and swaps the current token and its number. Returns the session and its user, or no row if it was not rotated. The row is locked first, and the
 * time is read then: the wait for the lock may last until after the deadline. Indexed columns keep their values, unless the new expiry is
 * earlier than the last, so PostgreSQL writes to no index (ADR 0017).
 */
export const rotateBefore = statement((db, values: RotationValues) => {
  const { sessionId, userId, from, expected, expectedNumber, number, to, next, at, continuesRun } = values;
  return db
    .with('locked', () =>
      db
        .selectFrom('sessions')
        .select('id')
        .where('id', '=', sessionId)
        .where('user_id', '=', userId)
        .where('current_token_id', '=', expected)
        .where('rotation', '=', expectedNumber)
        .where('expires_at', '>', at)
        .where(expiryAfter(values), '>', at)
        .where(showsDevice(values))
        .forNoKeyUpdate(),
    )
    .with('rotated', (query) =>
      query
        .updateTable('sessions')
        .set((eb) => ({
          current_token_id: to,
          previous_token_id: from,
          rotated_at: at,
          rotation: next,
          run_started_at: sql<number>`case when ${continuesRun}::boolean and run_first <> ${number}::bigint then run_started_at else ${at}::bigint end`,
          run_first: sql<number>`case when ${continuesRun}::boolean then run_first else ${number}::bigint end`,
          expires_at: expiryAfter(values),
          user_agent: values.userAgent,
          address: values.address,
          proofs: proofsAfter(values),
          purge_check_at: eb.fn<number>('least', ['purge_check_at', expiryAfter(values)]),
        }))
        .where('id', '=', (inner) =>
          inner
            .selectFrom('locked')
            .select('id')
            .where((eb) => eb(clockOf(eb), '<', values.deadline)),
        )
        .returning(SESSION_COLUMNS),
    )
    .selectFrom(['users', 'rotated'])
    .select(TOKEN_USER_COLUMNS)
    .select(OF_SESSION)
    .whereRef('id', '=', 'rotated.user_id');
});

/** Uses a proof, unless it may have been used before. */
export const useProof = (db: Kysely<Tables>, { id, userId }: SessionKey, { key, number }: DeviceProof) =>
  db
    .updateTable('sessions')
    .set({ proofs: withProof({ proofKey: key, proofNumber: number }) })
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where(isUnusedProof({ proofKey: key, proofNumber: number }));

export const selectWithUser = statement((db, { id, userId }: SessionKey) =>
  db
    .selectFrom('users')
    .leftJoin(
      db
        .selectFrom('sessions')
        .select(SESSION_COLUMNS)
        .where('sessions.id', '=', id)
        .where('user_id', '=', userId)
        .as('session'),
      (join) => join.onTrue(),
    )
    .select(USER_COLUMNS)
    .select(OF_SESSION)
    .where('id', '=', userId),
);

/**
 * Undoes a rotation, or prevents it: the session before the rotation gets another number than it expects. So the statement also waits for a
 * rotation in progress, which has locked the row.
 */
export const revertRotation = (db: Kysely<Tables>, rotation: Rotation) => {
  const { sessionId, userId, from, expected, expectedNumber, to } = rotation;
  return db
    .updateTable('sessions')
    .set({ current_token_id: from, previous_token_id: from, rotation: nextNumber(rotation) })
    .where('id', '=', sessionId)
    .where('user_id', '=', userId)
    .where((eb) =>
      eb.or([
        eb('current_token_id', '=', to),
        eb.and([eb('current_token_id', '=', expected), eb('rotation', '=', expectedNumber)]),
      ]),
    );
};

/** The key of the advisory lock of purges: an arbitrary number. */
const PURGE_LOCK = 7_263_501_949;

/** Epoch milliseconds of the database clock at the start of the statement. It is stable, so the planner can use an index. */
const statementTime = sql<number>`(date_part('epoch', statement_timestamp()) * 1000)::bigint`;

/** How many sessions one purge may check, and how many of them it may delete. */
type PurgeLimits = { readonly due: number; readonly expired: number };

/**
 * Checks the sessions whose check is due. A session that was refreshed since gets its next check at its new expiry. The others have
 * expired, and are deleted, the earliest first. Does nothing while another instance purges, and skips locked rows. The check has to be due
 * by the database clock as well, so that an instance whose clock is ahead deletes no live session.
 * Returns a row for each deleted session, or one row without a session; every row has the number of checked sessions.
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
    // An array of ids is looked up by the primary key; a join might scan the whole table.
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
    .with('checked', (query) => query.selectFrom('due').select((eb) => eb.fn.countAll().as('due')))
    .selectFrom('checked')
    .leftJoin('purged', (join) => join.onTrue())
    .select(['checked.due', 'purged.id', 'purged.user_id']);

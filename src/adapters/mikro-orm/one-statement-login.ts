import { sql } from 'kysely';
import type { PlainLogin, SessionRepository } from '../../application/ports/session-repository.ts';
import { MAX_EVENTS } from '../../application/storage/events.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { SESSIONS_PER_USER } from '../../domain/session.ts';
import { ConflictError, firstVersion, isInUnit, isStorable } from '../records/storage.ts';
import { errorTranslator, POSTGRESQL } from './dialects.ts';
import {
  builtStatements,
  type Connection,
  columnNamesOf,
  insertRow,
  ROW_VERSION,
  type Row,
  type SqlTable,
  type Statement,
  sqlTables,
} from './statements.ts';

const { system, failureOf, booleanToSql } = POSTGRESQL;
const translateErrors = errorTranslator(failureOf);

/**
 * A log-in as one statement, instead of a transaction with several round trips. It locks the row of the user, but does nothing if the row is locked
 * already: after waiting for the lock it would still read the data of its start. It does not see a log-in that commits at the same moment:
 * then there may be one session too many until the next log-in, or the unique index of counted events refuses the event. In each case that the
 * statement does not cover, `addLogin` returns `false`, and the caller uses a transaction.
 */
export const postgresqlLogin = (
  connection: Connection,
  prefix: string,
): Required<Pick<SessionRepository, 'addLogin'>> => {
  const tables = sqlTables(prefix);
  const send = builtStatements(system);
  return {
    async addLogin(login) {
      const statement = statementOf(tables, login);
      if (isInUnit() || !statement.values.every(isStorable)) return false;
      try {
        return (await translateErrors(() => send(connection, statement))).rows.length > 0;
      } catch (error) {
        // For instance, this statement may conflict if the database is serializable by default. The caller's transaction is READ COMMITTED.
        if (error instanceof ConflictError) return false;
        if (error instanceof AppError && error.code === 'DB_UNIQUE_VIOLATION') return false;
        throw error;
      }
    },
  };
};

/** If one of these members has changed since the use case read the user, the statement does nothing. */
const CHECKED_MEMBERS = ['passwordChangedAt', 'disabledAt', 'emailVerifiedAt', 'secondFactorAt'] as const;
/** The columns of an event that do not change when another log-in is counted in it. */
const UNCHANGED_COLUMNS: readonly string[] = ['id', 'user_id', 'counted_by'];

const valuesOf = (table: SqlTable, row: object) =>
  insertRow(table, { ...row, version: firstVersion() }, booleanToSql).values;

const statementOf = (tables: ReturnType<typeof sqlTables>, login: PlainLogin): Statement => {
  const { user, session, event, notice } = login;
  const [users, sessions, events] = [tables('users'), tables('sessions'), tables('events')];
  const sessionRow = valuesOf(sessions, { ...session, purgeCheckAt: session.expiresAt });
  const eventRow = valuesOf(events, event);
  const build: Statement['build'] = (db, placeholders) => {
    const rest = [...placeholders];
    const [sessionValues, eventValues] = [rest.splice(0, sessionRow.length), rest.splice(0, eventRow.length)];
    const [userId, countedBy, device, sendsNotices, since, refused, ...expected] = rest;
    const columns = (table: SqlTable) => sql.join(columnNamesOf(table).map((name) => sql.ref(name)));
    const fromUserRows = ({ name }: SqlTable) => sql`from ${sql.table(name)} where user_id = ${userId}`;
    const unchanged = CHECKED_MEMBERS.map(
      (member, at) => sql`${sql.ref(users.column(member).name)} is not distinct from ${expected[at]}`,
    );
    const changes = columnNamesOf(events).flatMap((name, at) => {
      if (UNCHANGED_COLUMNS.includes(name)) return [];
      const value = [ROW_VERSION, 'count'].includes(name) ? sql`event.${sql.ref(name)} + 1` : sql`${eventValues[at]}`;
      return [sql`${sql.ref(name)} = ${value}`];
    });
    const statement = sql<Row>`with owner as (
        select id from ${sql.table(users.name)} where id = ${userId} and ${sql.join(unchanged, sql` and `)}
          and not exists (select from ${sql.table(tables('webhooks').name)})
          and not exists (select ${fromUserRows(sessions)} offset ${sql.lit(SESSIONS_PER_USER - 1)})
          and not exists (select ${fromUserRows(events)} offset ${sql.lit(MAX_EVENTS - 1)})
          and (not cast(${sendsNotices} as boolean) or exists (select ${fromUserRows(events)} and device = ${device}) and ${refused} >
            (select coalesce(sum(count), 0) ${fromUserRows(events)} and kind = 'login-refused' and at >= ${since}))
        for no key update skip locked),
      opened as (insert into ${sql.table(sessions.name)} (${columns(sessions)})
        select ${sql.join(sessionValues)} from owner returning id),
      counted as (update ${sql.table(events.name)} as event set ${sql.join(changes)}
        from opened where event.user_id = ${userId} and event.counted_by = ${countedBy} returning event.id),
      added as (insert into ${sql.table(events.name)} (${columns(events)})
        select ${sql.join(eventValues)} from opened where not exists (select from counted))
      select id from opened`;
    return { compile: () => statement.compile(db) };
  };
  const noticeValues = [notice !== null, notice?.since ?? 0, notice?.refused ?? 0];
  const userValues = CHECKED_MEMBERS.map((member) => user[member]);
  const values = [...sessionRow, ...eventRow, user.id, event.countedBy, event.device, ...noticeValues, ...userValues];
  return { shape: 'log in', values, build };
};

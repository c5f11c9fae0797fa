import { sql } from 'kysely';
import type { PlainLogin, SessionRepository } from '../../application/ports/session-repository.ts';
import { MOST_EVENTS } from '../../application/storage/events.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { SESSIONS_PER_USER } from '../../domain/session.ts';
import { ConflictError, firstVersion, isInUnit, isStorable } from '../records/units.ts';
import { POSTGRESQL } from './dialects.ts';
import { translatedBy } from './failures.ts';
import { builtStatements, type Connection, type Sql, type SqlTable, sqlTables, toSql, VERSION } from './statements.ts';

const { system, failureOf, booleans } = POSTGRESQL;
const translated = translatedBy(failureOf);

/**
 * A log-in as one statement. It locks the user as a transaction does, but waits for nobody, since it reads what was there when it began: a
 * user whom somebody else has locked is left to a transaction. Of a log-in that another instance commits at the same moment, it may see
 * nothing: then one session is too many until the next log-in, or the index of counted events refuses the event, and a transaction follows.
 * As a transaction, a log-in takes five round trips and ten statements instead.
 */
export const postgresqlLogin = (
  connection: () => Connection,
  prefix: string,
): Required<Pick<SessionRepository, 'addLogin'>> => {
  const tables = sqlTables(prefix);
  const send = builtStatements(system);
  return {
    async addLogin(login) {
      const { values, build } = statementOf(tables, login);
      if (isInUnit() || !values.every(isStorable)) return false;
      try {
        return (await translated(() => send(connection(), 'log in', values, build))).rows.length > 0;
      } catch (error) {
        // A database that is serializable by default finds conflicts that a transaction, which is READ COMMITTED, does not have.
        if (error instanceof ConflictError) return false;
        if (error instanceof AppError && error.code === 'DB_UNIQUE_VIOLATION') return false;
        throw error;
      }
    },
  };
};

/** What decides about a log-in of a user. */
const DECISIVE = ['passwordChangedAt', 'disabledAt', 'emailVerifiedAt', 'secondFactorAt'] as const;
/** What stays in the event in which a log-in is counted. */
const KEPT: readonly string[] = ['id', 'user_id', 'counted_by'];

const rowOf = ({ columns }: SqlTable, row: object): unknown[] => [
  ...columns.map((column) => toSql(column, Reflect.get(row, column.member), booleans)),
  firstVersion(),
];

const statementOf = (tables: ReturnType<typeof sqlTables>, { user, session, event, notice }: PlainLogin) => {
  const [users, sessions, events] = [tables('users'), tables('sessions'), tables('events')];
  const sessionRow = rowOf(sessions, { ...session, purgeCheckAt: session.expiresAt });
  const eventRow = rowOf(events, event);
  const build = (db: Sql, given: readonly unknown[]) => {
    const rest = [...given];
    const [ofSession, ofEvent] = [rest.splice(0, sessionRow.length), rest.splice(0, eventRow.length)];
    const [userId, countedBy, device, isWatched, since, refused, ...decisive] = rest;
    const names = ({ columns }: SqlTable) => [...columns.map(({ name }) => name), VERSION];
    const namesOf = (table: SqlTable) => sql.join(names(table).map((name) => sql.ref(name)));
    const ofUser = ({ name }: SqlTable) => sql`from ${sql.table(name)} where user_id = ${userId}`;
    const unchanged = DECISIVE.map(
      (member, at) => sql`${sql.ref(users.column(member).name)} is not distinct from ${decisive[at]}`,
    );
    const changes = names(events).flatMap((name, at) => {
      if (KEPT.includes(name)) return [];
      const value = name === VERSION || name === 'count' ? sql`event.${sql.ref(name)} + 1` : sql`${ofEvent[at]}`;
      return [sql`${sql.ref(name)} = ${value}`];
    });
    const statement = sql<Record<string, unknown>>`with owner as (
        select id from ${sql.table(users.name)} where id = ${userId} and ${sql.join(unchanged, sql` and `)}
          and not exists (select from ${sql.table(tables('webhooks').name)})
          and not exists (select ${ofUser(sessions)} offset ${sql.lit(SESSIONS_PER_USER - 1)})
          and not exists (select ${ofUser(events)} offset ${sql.lit(MOST_EVENTS - 1)})
          and (not cast(${isWatched} as boolean) or exists (select ${ofUser(events)} and device = ${device}) and ${refused} >
            (select coalesce(sum(count), 0) ${ofUser(events)} and kind = 'login-refused' and at >= ${since}))
        for no key update skip locked),
      opened as (insert into ${sql.table(sessions.name)} (${namesOf(sessions)})
        select ${sql.join(ofSession)} from owner returning id),
      counted as (update ${sql.table(events.name)} as event set ${sql.join(changes)}
        from opened where event.user_id = ${userId} and event.counted_by = ${countedBy} returning event.id),
      added as (insert into ${sql.table(events.name)} (${namesOf(events)})
        select ${sql.join(ofEvent)} from opened where not exists (select from counted))
      select id from opened`;
    return { compile: () => statement.compile(db) };
  };
  const noticed = [notice !== null, notice?.since ?? 0, notice?.refused ?? 0];
  const decisive = DECISIVE.map((member) => user[member]);
  return {
    values: [...sessionRow, ...eventRow, user.id, event.countedBy, event.device, ...noticed, ...decisive],
    build,
  };
};

import { DatabaseSync } from 'node:sqlite';
import type { SessionRepository } from '../../../src/application/ports/session-repository.ts';
import { rotated, type Session } from '../../../src/domain/session.ts';
import type { User } from '../../../src/domain/user.ts';
import type { Access, Rows } from '../harness/shared-rows.ts';
import { correctSessions, findIn, now, withUser } from './correct.ts';

/** What is wrong with an adapter on SQLite. Each of these comes about easily, and only in a store that several threads share. */
export type SqliteFault =
  | 'none'
  | 'checks the current token, and then sets the next one'
  | 'compares the time before it waits for the lock'
  | 'has no cascade from users to their sessions'
  | 'lets "database is locked" through';

export type SqliteOptions = {
  readonly path: string;
  readonly users: readonly User[];
  readonly fault: SqliteFault;
  /** Milliseconds. */
  readonly budget: number;
  /** Milliseconds for which a locked file is waited for. */
  readonly patience: number;
};

const TABLES = (cascade: string) => `
  pragma journal_mode = wal;
  pragma synchronous = off;
  create table if not exists users (id text primary key);
  create table if not exists sessions (id text primary key, user_id text not null ${cascade}, body text not null)`;

export const openFile = ({
  path,
  fault,
  patience,
}: Pick<SqliteOptions, 'path' | 'fault' | 'patience'>): DatabaseSync => {
  const database = new DatabaseSync(path, { timeout: patience });
  const hasCascade = fault !== 'has no cascade from users to their sessions';
  database.exec(TABLES(hasCascade ? 'references users (id) on delete cascade' : ''));
  return database;
};

const rowsOf = (database: DatabaseSync): Rows<Session> => {
  const one = database.prepare('select body from sessions where id = ?');
  const every = database.prepare('select body from sessions');
  const put = database.prepare(
    'insert into sessions values (?, ?, ?) on conflict (id) do update set body = excluded.body',
  );
  const remove = database.prepare('delete from sessions where id = ?');
  const toSession = (row: Record<string, unknown>): Session => JSON.parse(String(row.body));
  return {
    get: (id) => {
      const row = one.get(id);
      return row && toSession(row);
    },
    set: (session) => void put.run(session.id, session.userId, JSON.stringify(session)),
    delete: (id) => remove.run(id).changes > 0,
    all: () => every.all().map(toSession),
  };
};

/** Sessions on SQLite; synchronous, so that its own calls never interleave. */
export const open = (options: SqliteOptions): SessionRepository => {
  const database = openFile(options);
  const rows = rowsOf(database);
  const transaction = <Result>(step: (rows: Rows<Session>) => Result): Result => {
    database.exec('begin immediate');
    try {
      return step(rows);
    } finally {
      database.exec('commit');
    }
  };
  const access: Access<Session> = async (step) => transaction(step);
  const correct = correctSessions({ access, users: options.users, budget: options.budget });
  const rotate = rotateWith(rows, transaction, options);
  if (options.fault === 'lets "database is locked" through') {
    return { ...correct, find: (key) => access((stored) => findIn(stored, key)) };
  }
  return rotate === null ? correct : { ...correct, rotate };
};

const rotateWith = (
  rows: Rows<Session>,
  transaction: <Result>(step: (rows: Rows<Session>) => Result) => Result,
  { users, fault, budget }: SqliteOptions,
): SessionRepository['rotate'] | null => {
  switch (fault) {
    case 'checks the current token, and then sets the next one':
      return async (rotation) => {
        const session = findIn(rows, { id: rotation.sessionId, userId: rotation.userId });
        const next = session && rotated(session, rotation);
        if (next === null) return 'stale';
        rows.set(next);
        return withUser(users, next);
      };
    case 'compares the time before it waits for the lock':
      return async (rotation) => {
        const deadline = now() + budget;
        if (now() >= deadline) return 'too-late';
        return transaction(() => {
          const session = findIn(rows, { id: rotation.sessionId, userId: rotation.userId });
          const next = session && rotated(session, rotation);
          if (next === null) return 'stale';
          rows.set(next);
          return withUser(users, next);
        });
      };
    default:
      return null;
  }
};

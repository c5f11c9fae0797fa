import type { Options } from '@mikro-orm/sql';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { SqlDialect } from './dialects.ts';
import type { Connection } from './statements.ts';

export type SqliteOptions = {
  readonly kind: 'sqlite';
  readonly path: string;
  /** `full`: each commit is on the disk before it is acknowledged. `normal`: a power cut may lose the last commits, but never corrupts the file. */
  readonly synchronous: 'normal' | 'full';
  readonly tablePrefix: string;
};

export type ServerOptions = {
  readonly kind: 'postgresql' | 'mariadb' | 'mysql';
  readonly url: string;
  /** The URLs of the other nodes of a cluster, in the order in which they are tried. */
  readonly others?: readonly string[];
  /** Called when another server is used than before. @param error why the former server was left */
  readonly onFailOver?: (host: string, error: unknown) => void;
  readonly poolSize: number;
  /** These three are milliseconds: for getting a connection, for a statement, and for an unused connection to stay open. */
  readonly connectionTimeout: number;
  readonly statementTimeout: number;
  readonly idleTimeout: number;
  readonly tablePrefix: string;
};

export type DatabaseOptions = SqliteOptions | ServerOptions;

export type PoolState = { readonly used: number; readonly idle: number; readonly waiting: number };

export type SqlTypes = {
  readonly integer: string;
  readonly text: string;
  /** A text in a key or an index. Some databases bound its length. */
  readonly indexedText: string;
  /** The collation that compares texts by their bytes; `null` if the database compares them so by default. */
  readonly collation: string | null;
};

/** An open database. `execute` is for short statements outside of transactions; several of them may share a connection. */
export type OpenConnection = Connection & {
  /** The current state of the pool; `null` for SQLite, which has none. */
  readonly connections: () => PoolState | null;
  /** Whether the server is a node of a cluster, whose other nodes write the same tables, and do not see its locks. */
  readonly isCluster?: () => boolean;
};

export type DatabaseKind = {
  readonly dialect: SqlDialect;
  readonly types: SqlTypes;
  /** Opens the database. No connection is made before the first statement. */
  readonly connect: () => Promise<OpenConnection>;
  /** The options of MikroORM, which makes the schema. */
  readonly orm: () => Promise<Partial<Options>>;
  /** Statements that are executed once, when the database is opened. */
  readonly settingStatements: readonly string[];
  /** A statement that fails, or returns a reason as `unfit`, if the encoding is wrong or the collation is missing. */
  readonly probeQuery: string;
  /** A query for the `name` of each table and view that is visible without the name of a schema, and `is_here`: whether it is in this service's schema. */
  readonly tablesQuery: string;
  /** Completes the statements of MikroORM that create the tables, for instance by options of tables, which its generator cannot write (ADR 0034). */
  readonly completeSchema: (statements: readonly string[]) => string[];
  /** Faster methods of the repository of sessions, each as a single statement of this database where possible. */
  readonly fasterSessions?: (
    connection: Connection,
    plain: SessionRepository,
    prefix: string,
  ) => Partial<SessionRepository>;
  /** A query for the time of the server as `now`, in epoch milliseconds; `null` for SQLite, which has no server. */
  readonly timeQuery: string | null;
  /** A query for `version`, with the name of the product, and `may_create`, whether this role may create tables. */
  readonly aboutQuery: string;
  /** A `delete` that matches no row. It fails, for instance, on a read-only server or for a role that may not write, but not if the disk is full. */
  readonly emptyWrite: (tables: readonly string[]) => string;
  /** Why the database cannot be opened, for the operator, with the name of the setting at fault. */
  readonly openFailure: (error: unknown) => string;
};

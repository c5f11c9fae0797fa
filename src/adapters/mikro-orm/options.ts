import type { Options } from '@mikro-orm/sql';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { SqlDialect } from './dialects.ts';
import type { Connection } from './statements.ts';

export type SqliteOptions = {
  readonly kind: 'sqlite';
  readonly path: string;
  /** `full`: each commit is on the disk before it is acknowledged. */
  readonly synchronous: 'normal' | 'full';
  readonly tablePrefix: string;
};

export type ServerOptions = {
  readonly kind: 'postgresql' | 'mariadb' | 'mysql';
  readonly url: string;
  /** Those of the other nodes of a cluster, in the order in which they are tried. */
  readonly others?: readonly string[];
  readonly poolSize: number;
  /** Milliseconds that a request waits for a connection. */
  readonly connectionTimeout: number;
  /** Milliseconds that a statement may take. */
  readonly statementTimeout: number;
  /** Milliseconds for which an unused connection is kept. */
  readonly idleTimeout: number;
  readonly tablePrefix: string;
};

/** The database that DATABASE_URL selects. */
export type DatabaseOptions = SqliteOptions | ServerOptions;

/** The current state of a pool of connections. */
export type PoolState = { readonly used: number; readonly idle: number; readonly waiting: number };

/** What differs between databases in tables and the types of columns. */
export type Types = {
  /** The type of an integer of 64 bits. */
  readonly integer: string;
  /** The type of a text of any length. */
  readonly text: string;
  /** That of a text in a key or an index, whose length some databases bound. */
  readonly indexedText: string;
  /** The collation by which texts are compared by their bytes; `null` if they are in any case. */
  readonly collation: string | null;
};

/** A database that statements can be sent to. `execute` is for short statements outside of transactions: several may be sent on one connection. */
export type Connected = Connection & {
  /** The current state of the pool; `null` without one. */
  readonly connections: () => PoolState | null;
  /** Whether other nodes write the same tables, which know nothing of the locks of this one. */
  readonly isCluster?: () => boolean;
};

/** How the service opens one kind of database. */
export type DatabaseKind = {
  readonly dialect: SqlDialect;
  readonly types: Types;
  /** What opens the file or connections when something is sent. */
  readonly connect: () => Promise<Connected>;
  /** The options of MikroORM, which makes the schema. Loads it, which takes a fifth of the time of a start. */
  readonly orm: () => Promise<Partial<Options>>;
  /** Executed once, when the database is opened. */
  readonly settings: readonly string[];
  /** Sent next. It fails, or its row says to the operator in `unfit` why, if the service cannot work with this database. */
  readonly probe: string;
  /** The tables that statements find: their `name`, and `is_here` for those in a place where this service makes them. */
  readonly tables: string;
  /** The statements that make the tables, from those of MikroORM, whose generator knows no options of tables (ADR 0034). */
  readonly schema: (statements: readonly string[]) => string[];
  /** The methods of a repository of sessions that are faster as statements of this database. */
  readonly sessions?: (
    connection: () => Connection,
    plain: SessionRepository,
    prefix: string,
  ) => Partial<SessionRepository>;
  /** Asks the server for the time: one row with `now`, in epoch milliseconds. `null`: the clock is that of this machine. */
  readonly time: string | null;
  /** One row for the operator: `version` names the product as well; `may_create` tells whether this role may create tables. */
  readonly about: string;
  /**
   * A statement that deletes no row of any of the tables. Databases treat it as a write: it waits for locks on the tables, and is refused by a
   * read-only server and to a role that may not write. It writes nothing to the disk, so it does not see that this is full.
   */
  readonly writesNothing: (tables: readonly string[]) => string;
  /** Why the database cannot be opened, for the operator. Names the setting at fault. */
  readonly openFailure: (error: unknown) => string;
};

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
  /** The URLs of the other nodes of a cluster, in the order in which they are tried. */
  readonly others?: readonly string[];
  /** Called when another server is used than before. @param error why the one before was left */
  readonly onFailOver?: (host: string, error: unknown) => void;
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

/** The types of columns. */
export type Types = {
  /** An integer of 64 bits. */
  readonly integer: string;
  /** A text of any length. */
  readonly text: string;
  /** A text in a key or an index. Some databases bound its length. */
  readonly indexedText: string;
  /** The collation that compares texts by their bytes; `null` if the database always does. */
  readonly collation: string | null;
};

/** An open database. `execute` is for short statements outside of transactions, of which several may share a connection. */
export type Connected = Connection & {
  /** The current state of the pool; `null` without one. */
  readonly connections: () => PoolState | null;
  /** Whether other nodes of a cluster write the same tables. They do not see the locks of this one. */
  readonly isCluster?: () => boolean;
};

/** How the service opens one kind of database. */
export type DatabaseKind = {
  readonly dialect: SqlDialect;
  readonly types: Types;
  /** Connects with the first statement, and not before. */
  readonly connect: () => Promise<Connected>;
  /** The options of MikroORM, which makes the schema. To load it takes a fifth of the time of a start. */
  readonly orm: () => Promise<Partial<Options>>;
  /** Executed once, when the database is opened. */
  readonly settings: readonly string[];
  /** A statement that fails, or says why to the operator in `unfit`, if the service cannot work with this database. */
  readonly probe: string;
  /** A query for the `name` of each table that is found without a schema, and whether it `is_here`: where this service makes its tables. */
  readonly tables: string;
  /** Corrects the statements of MikroORM that create the tables, since its generator knows no options of tables (ADR 0034). */
  readonly schema: (statements: readonly string[]) => string[];
  /** Methods of the repository of sessions as single statements of this database, which are faster. */
  readonly sessions?: (connection: Connection, plain: SessionRepository, prefix: string) => Partial<SessionRepository>;
  /** A query for the time of the server as `now`, in epoch milliseconds; `null` if the database uses the clock of this machine. */
  readonly time: string | null;
  /** A query for the operator: `version` with the name of the product, and `may_create`, whether this role may create tables. */
  readonly about: string;
  /**
   * A statement that deletes from the tables, but no row. It waits for locks as a write does, and is refused by a read-only server and to a role that
   * may not write. It does not notice a full disk.
   */
  readonly writesNothing: (tables: readonly string[]) => string;
  /** Why the database cannot be opened, for the operator. Names the setting at fault. */
  readonly openFailure: (error: unknown) => string;
};

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

import type { StorageRow } from './storage.ts';

type EmbeddedOptions = {
  readonly kind: 'embedded';
  /** The service's DATA_DIR; the database is in a directory of its own below it. */
  readonly dataDir: string;
};

/** PGlite: PostgreSQL within the process, for one process only. */
export const embedded: StorageRow<EmbeddedOptions> = {
  isFor: (url) => url === undefined,
  expected: null,
  meaning: 'an embedded database in DATA_DIR',
  optionsOf: ({ DATA_DIR: dataDir }) => ({ kind: 'embedded', dataDir }),
  refusals: () => [],
  productionWarnings: () => [[true, 'DATABASE_URL is unset: the embedded database supports one process only']],
  open: async (options, context) => (await import('./sql.ts')).openSql(options, context),
  migrate: async (options, onCreate) => (await import('./sql.ts')).migrateSql(options, onCreate),
};

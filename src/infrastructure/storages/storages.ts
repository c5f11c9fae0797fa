import type { Logger } from 'pino';
import type { Check } from '../../adapters/http/routes/health.ts';
import type { Readings } from '../../adapters/metrics/prometheus.ts';
import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { Storage } from '../../application/ports/unit-of-work.ts';
import type { StorageOptions } from '../config/stores.ts';

export type OpenContext = {
  /** Whether to bring the schema up to date. */
  readonly migrate: boolean;
  /** Called before a database is created, if that takes seconds. */
  readonly onCreate: () => void;
  /** Gets lines about backups and checkpoints of the embedded database. */
  readonly logger: Pick<Logger, 'info' | 'warn'>;
};

export type OpenStorage = Omit<Storage, 'sessions'> & {
  /** @param budget milliseconds after the call, within which a rotation happens or never will. ADR 0022. */
  readonly sessionsWithin: (options: { readonly budget: number }) => SessionRepository;
  readonly checks: readonly Check[];
  readonly connections: Readings['databaseConnections'];
  readonly close: () => Promise<void>;
};

/** The storage over stores that need no connection, or whose caller keeps it. */
export const alreadyOpen = ({ sessions, users, events, links, outbox, unitOfWork }: Storage): OpenStorage => ({
  ...{ users, events, links, outbox, unitOfWork },
  sessionsWithin: () => sessions,
  checks: [],
  connections: () => null,
  close: async () => undefined,
});

/** Opens the storage, and imports only its driver. @throws Error that names the variable at fault, and the reason. */
export const openStorage = async (options: StorageOptions, context: OpenContext): Promise<OpenStorage> => {
  if (options.kind === 'memory') return alreadyOpen((await import('./memory-stores.ts')).memoryStores());
  return (await import('./sql.ts')).openSql(options, context);
};

/** Brings the schema up to date, for the command `migrate`. @throws Error as `openStorage` */
export const migrateStorage = async (options: StorageOptions, onCreate: () => void): Promise<void> => {
  if (options.kind === 'memory') throw new Error('DATABASE_URL: memory: has no schema to migrate');
  await (await import('./sql.ts')).migrateSql(options, onCreate);
};

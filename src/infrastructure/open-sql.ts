import { dirname } from 'node:path';
import { keepReading, serverClock } from '../adapters/clock/server.ts';
import { systemClock } from '../adapters/clock/system.ts';
import type { Check } from '../adapters/http/request/settings.ts';
import type { Readings } from '../adapters/metrics/prometheus.ts';
import { type OpenOptions, openDatabase } from '../adapters/mikro-orm/open-database.ts';
import type { DatabaseOptions } from '../adapters/mikro-orm/options.ts';
import { type OwnTables, withOwnTables } from '../adapters/records/own-tables.ts';
import { storageOver } from '../adapters/records/storage.ts';
import type { Clock } from '../application/ports/clock-and-ids.ts';
import type { Storage } from '../application/storage/records.ts';
import { restrictOwnDirectory } from './private-data.ts';

export type OpenStorage = Storage & {
  readonly checks: readonly Check[];
  /** The clock to which stored times are compared: that of the database server, or for SQLite, that of this machine. */
  readonly clock: Clock;
  readonly connections: Readings['databaseConnections'];
  readonly close: () => Promise<void>;
};

/** Opens the database of DATABASE_URL. @throws Error that says why it cannot */
export const openSql = async (options: DatabaseOptions, openOptions: OpenOptions): Promise<OpenStorage> => {
  if (options.kind === 'sqlite') restrictOwnDirectory(dirname(options.path));
  const {
    records,
    withFasterMethods: faster,
    ping,
    pingOtherTables: pingOthers,
    readTime,
    connections,
    close,
  } = await openDatabase(options, openOptions);
  const clock = readTime && serverClock(readTime);
  // A failure is ignored, since `keepReading` reads the clock again.
  await clock?.read().catch(() => undefined);
  const stopReading = clock && keepReading(clock);
  const { sessions, ...storage } = storageOver(records);
  return {
    ...storage,
    sessions: faster(sessions),
    checks: [
      { name: 'database', ping, required: true },
      { name: 'tables', ping: pingOthers, required: false },
    ],
    clock: clock ?? systemClock,
    connections,
    close: () => {
      stopReading?.();
      return close();
    },
  };
};

export const migrateSql = async (options: DatabaseOptions, tables?: OwnTables): Promise<void> => {
  const { close } = await openSql(options, { migrate: true, tables: withOwnTables(tables, options.tablePrefix) });
  await close();
};

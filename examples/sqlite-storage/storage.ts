import type { DatabaseSync } from 'node:sqlite';
import { outsideOfUnits, type Storage, type Stores } from 'tandem';
import { type Connection, connectionOf, connectionOfUnit, mutex } from './connection.ts';
import { openDatabase, translated } from './database.ts';
import { sqliteEventRepository } from './event-repository.ts';
import { sqliteFactorRepository } from './factor-repository.ts';
import { sqliteLinkRepository } from './link-repository.ts';
import { sqliteOutbox } from './outbox.ts';
import { sqlitePasskeyRepository } from './passkey-repository.ts';
import { sqliteRememberedDeviceRepository } from './remembered-device-repository.ts';
import { sqliteSessionRepository } from './session-repository.ts';
import { sqliteUsedValues } from './used-values.ts';
import { sqliteUserRepository } from './user-repository.ts';

type Options = {
  /** Milliseconds after a call, within which a rotation happens or never will. */
  readonly budget?: number;
};

const storesOver = (connection: Connection, options?: Options): Stores => ({
  users: sqliteUserRepository(connection),
  sessions: sqliteSessionRepository(connection, options),
  events: sqliteEventRepository(connection),
  links: sqliteLinkRepository(connection),
  outbox: sqliteOutbox(connection),
  used: sqliteUsedValues(connection),
  passkeys: sqlitePasskeyRepository(connection),
  factors: sqliteFactorRepository(connection),
  devices: sqliteRememberedDeviceRepository(connection),
});

/** The whole storage of the service, in a file. Several processes may share it. */
export const openSqliteStorage = (path: string, options?: Options) => {
  const [database, ofUnits] = [openDatabase(path), openDatabase(path)];
  const exclusively = mutex();
  const inside = storesOver(connectionOfUnit(ofUnits));
  const unitOfWork: Storage['unitOfWork'] = {
    run: (work) => outsideOfUnits(() => exclusively(() => asTransaction(ofUnits, () => work(inside)))),
  };
  return {
    storage: { ...storesOver(connectionOf(database, exclusively), options), unitOfWork } satisfies Storage,
    ping: () => translated(() => database.exec('select 1 from users limit 1')),
    close: () => {
      for (const each of [database, ofUnits]) each.close();
    },
  };
};

const asTransaction = async <Result>(database: DatabaseSync, work: () => Promise<Result>): Promise<Result> => {
  await translated(() => database.exec('begin immediate'));
  try {
    const result = await work();
    await translated(() => database.exec('commit'));
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('rollback');
    throw error;
  }
};

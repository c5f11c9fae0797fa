import { storageOver } from '../../../src/adapters/records/storage.ts';
import type { Storage } from '../../../src/application/storage/records.ts';
import { realPostgres } from '../parts.ts';
import { openEmbedded, openOnPostgresql } from './databases.ts';

export type TestStorage = { readonly storage: Storage; readonly close: () => Promise<void> };

/** Opens a new storage, in a file of SQLite or on the PostgreSQL of the vitest project. */
export const openTestStorage = async (): Promise<TestStorage> => {
  const server = realPostgres();
  const { records, close } = await (server === null ? openEmbedded() : openOnPostgresql(server));
  return { storage: storageOver(records), close };
};

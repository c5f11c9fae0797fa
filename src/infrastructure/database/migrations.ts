import type { Types } from '../../adapters/mikro-orm/records/entities.ts';
import type { Sql } from '../../adapters/mikro-orm/records/statements.ts';

/** A change of tables that were created by an earlier version. */
export type Migration = {
  /** The version that brings it, and what it does: `1.1.0-devices`. It never changes. */
  readonly name: string;
  /** Written with Kysely's schema builder, for every kind of database. @param prefix of the names of tables and indexes. */
  readonly up: (transaction: Sql, context: { readonly types: Types; readonly prefix: string }) => Promise<void>;
};

/** In the order in which they are applied. New databases get the tables as they are declared, and need none of them (CONTRIBUTING.md). */
export const MIGRATIONS: readonly Migration[] = [];

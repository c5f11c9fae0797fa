import type { Database } from '../../adapters/mikro-orm/open-database.ts';
import { CommandError } from '../command-error.ts';

/**
 * Refuses a database that a newer version has migrated: this one would leave out what it does not know.
 * @param called what the operator calls it
 * @returns whether it has tables, and those of this version.
 * @throws CommandError
 */
export const schemaOf = async ({ examine }: Database, called: string) => {
  const { pending, unknown } = (await examine()).schema;
  if (unknown.length > 0)
    throw new CommandError('other-version', `${called} is that of a newer version of Tandem. Use that version.`);
  return { hasTables: !pending.includes('tables'), isOlder: pending.length > 0 };
};

export const noTables = (called: string): CommandError =>
  new CommandError('no-tables', `${called} has no tables of Tandem. Is DATABASE_TABLE_PREFIX right?`);

import type { Records } from '../../../src/application/storage/records.ts';
import type { TableName } from '../../../src/application/storage/tables.ts';

type Method = 'insert' | 'list' | 'replace' | 'remove' | 'lock';
type Call<Name extends Method> = (...given: Parameters<Records[Name]>) => Promise<unknown>;

/**
 * The same records, which do something else at the calls of a method for a table.
 * @param act is given the call itself, and what it was called with.
 */
export const atCall = <Name extends Method>(
  records: Records,
  [method, table]: readonly [Name, TableName],
  act: (call: () => Promise<unknown>, ...given: Parameters<Records[Name]>) => unknown,
): Records => {
  const original = records[method].bind(records) as Call<Name>;
  const changed = (...given: Parameters<Records[Name]>) =>
    given[0] === table ? act(() => original(...given), ...given) : original(...given);
  return { ...records, [method]: changed };
};

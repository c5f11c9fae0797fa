import type { Records } from '../../../src/application/storage/records.ts';
import type { TableName } from '../../../src/application/storage/tables.ts';

type Method = 'insert' | 'list' | 'replace' | 'remove' | 'lock';
type Call<Name extends Method> = (...given: Parameters<Records[Name]>) => Promise<unknown>;

/**
 * Wraps records so that calls of one method for one table run `act` instead.
 * @param act gets a function that makes the original call, and the arguments
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

import type { Calls } from '../../../src/adapters/records/storage.ts';

const NAMES = ['insert', 'list', 'replace', 'remove', 'lock'] as const;
type MakeCall = (name: keyof Calls, given: readonly unknown[]) => Promise<unknown>;

/** Calls of records that each run `make` with their name and their arguments. */
export const callsMadeBy = (make: MakeCall): Calls =>
  Object.fromEntries(NAMES.map((name) => [name, (...given: unknown[]) => make(name, given)])) as unknown as Calls;

/** Makes the call with a name and arguments. */
export const makeCall = (calls: Calls, ...[name, given]: Parameters<MakeCall>): Promise<unknown> =>
  (calls[name] as (...all: readonly unknown[]) => Promise<unknown>)(...given);

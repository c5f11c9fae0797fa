import { openDatabase } from '../../../src/adapters/mikro-orm/open-database.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import type { Records, Storage, Stores } from '../../../src/application/storage/records.ts';
import { inThread } from '../../contracts/in-thread.ts';

/** The records and stores of an instance over a database file. */
type Instance = { readonly records: Records } & Omit<Stores, 'records'>;
type Method = (...given: unknown[]) => Promise<unknown>;
type Methods = Readonly<Record<string, Method>>;

/** Opens an instance over a file. The name of each method starts with its part, such as `users.add`. */
export const open = async (path: string): Promise<Methods> => {
  // `onSqlite` is not usable here, because a thread cannot load a module that needs vitest.
  const options = { kind: 'sqlite', path, synchronous: 'normal', tablePrefix: '' } as const;
  const { records, withFasterMethods: faster } = await openDatabase(options, { migrate: true });
  const { transactions: _unit, records: _own, sessions, ...stores } = storageOver(records) satisfies Storage;
  const parts = Object.entries({ records, ...stores, sessions: faster(sessions) } satisfies Instance);
  return Object.fromEntries(
    parts.flatMap(([part, methods]) => Object.entries(methods).map(([name, method]) => [`${part}.${name}`, method])),
  );
};

/** Opens an instance over a file in a new thread. */
export const instanceInThread = async (path: string): Promise<{ instance: Instance; close: () => Promise<void> }> => {
  const { port, close } = await inThread<Methods>(new URL(import.meta.url), path);
  /** The proxy has no `then`, because `await` would take it for a promise. */
  const proxy = (member: (name: string) => unknown) =>
    new Proxy({}, { get: (_none, name) => (typeof name === 'symbol' || name === 'then' ? undefined : member(name)) });
  const instance = proxy((part) => proxy((name) => port[`${part}.${name}`]));
  return { instance: instance as Instance, close };
};

import { openDatabase } from '../../../src/adapters/mikro-orm/open-database.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import type { Records, Storage, Stores } from '../../../src/application/storage/records.ts';
import { inThread } from '../../contracts/in-thread.ts';

/** What another process has over a file: the records, and the stores over them. */
type Instance = { readonly records: Records } & Omit<Stores, 'records'>;
type Method = (...given: unknown[]) => Promise<unknown>;
type Methods = Readonly<Record<string, Method>>;

/** Opens an instance over a file, whose methods have the names of their parts: `users.add`. */
export const open = async (path: string): Promise<Methods> => {
  // Not `onSqlite`: a module that needs vitest cannot be loaded in a thread.
  const options = { kind: 'sqlite', path, synchronous: 'normal', tablePrefix: '' } as const;
  const { records, withFasterMethods: faster } = await openDatabase(options, { migrate: true });
  const { transactions: _unit, records: _own, sessions, ...stores } = storageOver(records) satisfies Storage;
  const parts = Object.entries({ records, ...stores, sessions: faster(sessions) } satisfies Instance);
  return Object.fromEntries(
    parts.flatMap(([part, methods]) => Object.entries(methods).map(([name, method]) => [`${part}.${name}`, method])),
  );
};

/** Such an instance in a thread of its own. */
export const instanceInThread = async (path: string): Promise<{ instance: Instance; close: () => Promise<void> }> => {
  const { port, close } = await inThread<Methods>(new URL(import.meta.url), path);
  /** An object with a method `then` would be taken for a promise. */
  const proxy = (member: (name: string) => unknown) =>
    new Proxy({}, { get: (_none, name) => (typeof name === 'symbol' || name === 'then' ? undefined : member(name)) });
  const instance = proxy((part) => proxy((name) => port[`${part}.${name}`]));
  return { instance: instance as Instance, close };
};

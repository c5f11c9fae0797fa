import { embedded } from './embedded.ts';
import { memory } from './memory.ts';
import { postgresql } from './postgresql.ts';
import type { StorageRow } from './storage.ts';

/** Every storage that DATABASE_URL can select. Configuration, commands, composition and documentation derive from this table. */
export const STORAGES = { postgresql, embedded, memory } as const;

type Rows = typeof STORAGES;
/** The parsed options of a storage; `kind` is the name of its row. */
export type StorageOptions = Parameters<Rows[keyof Rows]['open']>[0];
type AnyStorage = StorageRow<StorageOptions>;

// Each row takes the options of its own kind only: they are paired by `kind`, or by `isFor`, which selects the row that makes them.
const rows = Object.values(STORAGES) as AnyStorage[];
export const storageOf = ({ kind }: StorageOptions): AnyStorage => STORAGES[kind] as AnyStorage;

const rowFor = (url: string | undefined): AnyStorage | undefined => rows.find(({ isFor }) => isFor(url));

export const isStorageUrl = (text: string): boolean => rowFor(text) !== undefined;

/** @param url a valid DATABASE_URL; `undefined` when it is unset. */
export const storageFor = (url: string | undefined): AnyStorage => {
  const row = rowFor(url);
  if (row === undefined) throw new RangeError('no storage is selected by this DATABASE_URL');
  return row;
};

const named = rows.filter(({ expected }) => expected !== null);

/** The texts of the variable DATABASE_URL. */
export const STORAGE_TEXTS: { readonly expected: string; readonly unset: string; readonly meaning: string } = {
  expected: named.map(({ expected }) => expected).join(', or '),
  unset: storageFor(undefined).meaning,
  meaning: named.map(({ meaning }) => meaning).join(' '),
};

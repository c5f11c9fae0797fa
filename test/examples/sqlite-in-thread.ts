import type { Stores } from 'tandem';
import { openSqliteStorage } from '../../examples/sqlite-storage/storage.ts';

export type ThreadStore = { readonly path: string; readonly port: keyof Stores; readonly budget?: number };

/** Opens a repository of the example over the file, for `inThread`. */
export const open = ({ path, port, ...options }: ThreadStore) => openSqliteStorage(path, options).storage[port];

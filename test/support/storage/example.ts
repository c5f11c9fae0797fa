import { join } from 'node:path';
import { inject } from 'vitest';
import { openSqliteStorage } from '../../../examples/sqlite-storage/storage.ts';
import '../servers/provided.ts';
import { AMPLE_BUDGET } from '../rotation/ample-budget.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** Whether this project's services are on `examples/sqlite-storage`. */
export const isOnExample = (): boolean => inject('parts') === 'example';

/** The storage of the example, over a file of the test's own. */
export const openExampleStorage = () => {
  const { path, remove } = temporaryDirectory();
  const { storage, close } = openSqliteStorage(join(path, 'tandem.sqlite'), { budget: AMPLE_BUDGET });
  return {
    storage,
    close: async () => {
      close();
      remove();
    },
  };
};

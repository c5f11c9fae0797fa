import type { StorageRow } from './storage.ts';

type MemoryOptions = { readonly kind: 'memory' };

const URL_TEXT = 'memory:';

/** Nothing is kept when the process ends. */
export const memory: StorageRow<MemoryOptions> = {
  isFor: (url) => url === URL_TEXT,
  expected: URL_TEXT,
  meaning: '`memory:` loses all data at exit; production rejects it.',
  optionsOf: () => ({ kind: 'memory' }),
  refusals: ({ NODE_ENV }) => [
    [
      NODE_ENV === 'production',
      'DATABASE_URL: must not be memory: in production, which would lose all users and sessions',
    ],
  ],
  productionWarnings: () => [],
  open: async () => {
    const { memoryStores } = await import('./memory-stores.ts');
    const { sessions, ...stores } = memoryStores();
    return {
      ...stores,
      sessionsWithin: () => sessions,
      checks: [],
      connections: () => null,
      close: async () => undefined,
    };
  },
  migrate: async () => {
    throw new Error('DATABASE_URL: memory: has no schema to migrate');
  },
};

import type { UsedValues } from '../../../src/application/ports/used-values.ts';
import { memoryTables, type Tables } from './tables.ts';

type Used = { readonly id: string; readonly expiresAt: number };

/** Keeps used values in memory until the process ends. */
export const memoryUsedValues = (tables: Tables = memoryTables()): UsedValues => {
  const values = tables.open<Used>('used values');
  return {
    async use(id, expiresAt) {
      if (values.has(id)) return false;
      values.set(id, { id, expiresAt });
      return true;
    },
    async purge(now, limit) {
      const expired = [...values.values()].filter(({ expiresAt }) => expiresAt <= now).slice(0, limit);
      for (const { id } of expired) values.delete(id);
      return expired.length;
    },
  };
};

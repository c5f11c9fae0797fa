import type { SharedTables, Table, Tables } from '../memory/tables.ts';

/** Tables whose every use fails with an error that quotes what is stored, as some drivers do. */
export const failingTables = (stored: Tables): SharedTables => {
  const tables: Tables = {
    open<Value>(name: string): Table<Value> {
      const fail = (): never => {
        throw new Error(`duplicate key: ${JSON.stringify([...stored.open(name).values()])}`);
      };
      return {
        get: fail,
        has: fail,
        set: fail,
        delete: fail,
        values: fail,
        get size() {
          return fail();
        },
      };
    },
  };
  return { ...tables, begin: () => ({ tables, commit: () => true }) };
};

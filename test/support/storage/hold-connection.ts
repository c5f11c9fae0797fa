import type { Sql } from '../../../src/adapters/mikro-orm/statements.ts';

/** Takes a connection from the pool. @returns a function that gives it back */
export const holdConnection = async (db: Sql): Promise<() => Promise<void>> => {
  const [taken, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const using = db.connection().execute(() => {
    taken.resolve();
    return released.promise;
  });
  await taken.promise;
  return () => {
    released.resolve();
    return using;
  };
};

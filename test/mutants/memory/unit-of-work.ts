import pLimit from 'p-limit';
import { outsideOfUnits } from '../../../src/adapters/unit-of-work/wrappers.ts';
import type { Stores, UnitOfWork } from '../../../src/application/ports/unit-of-work.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import type { SharedTables, Tables } from './tables.ts';

/** A unit runs again only when the same values are changed outside of a unit of work meanwhile. */
const MOST_RUNS = 100;

/** Runs units one after the other. @param storesOver makes stores over given tables. */
export const memoryUnitOfWork = (tables: SharedTables, storesOver: (tables: Tables) => Stores): UnitOfWork => {
  const oneAtATime = pLimit(1);
  const runAlone = async <Result>(work: (stores: Stores) => Promise<Result>): Promise<Result> => {
    for (let runs = 0; runs < MOST_RUNS; runs += 1) {
      const changes = tables.begin();
      const result = await work(storesOver(changes.tables));
      if (changes.commit()) return result;
    }
    throw new AppError('DB_QUERY_FAILED', { reason: 'what a unit of work changes was changed again and again' });
  };
  return { run: (work) => outsideOfUnits(() => oneAtATime(() => runAlone(work))) };
};

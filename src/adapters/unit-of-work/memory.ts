import type { Stores, UnitOfWork } from '../../application/ports/unit-of-work.ts';
import type { Journal } from '../memory/journal.ts';

/** Units of work take turns. What others change meanwhile, outside a unit of work, is undone with it when it fails. */
export const memoryUnitOfWork = (stores: Stores, journal: Journal): UnitOfWork => {
  let last: Promise<unknown> = Promise.resolve();
  const runAlone = async <Result>(work: (stores: Stores) => Promise<Result>): Promise<Result> => {
    const undo: (() => void)[] = [];
    journal.undo = undo;
    try {
      return await work(stores);
    } catch (error) {
      journal.undo = null;
      for (const step of undo.reverse()) step();
      throw error;
    } finally {
      journal.undo = null;
    }
  };
  return {
    run(work) {
      const turn = last.then(() => runAlone(work));
      last = turn.catch(() => undefined);
      return turn;
    },
  };
};

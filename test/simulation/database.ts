import type { Row } from '../../src/adapters/records/memory.ts';
import type { TableName } from '../../src/application/storage/tables.ts';
import { type Change, failed, ReadCommitted, type Send } from '../support/records/read-committed.ts';
import { kernel, perWorld } from './kernel.ts';

/** The simulated database of all instances, and its faults. */

/** Milliseconds after which a client counts a statement as failed. The database may still execute it. */
const STATEMENT_TIMEOUT = 5_000;
/** `latency`: milliseconds of one way at most. `failing`, `unanswered`, `refused`: how often a statement fails, a commit has no answer, a change is refused. */
export const NO_FAULTS = { latency: 2, failing: 0, unanswered: 0, refused: 0, isFrozen: false, isDown: false };

const faults = perWorld(() => ({ ...NO_FAULTS }));
type Watch = (change: Change, changes: readonly Change[]) => void;
const watches: (readonly [TableName, Watch])[] = [];
const state = perWorld((chance) => ({
  ...{ chance, history: [] as { readonly at: number; readonly changes: Change[] }[] },
  all: new ReadCommitted((changes) => {
    state.history.push({ at: kernel.time, changes });
    for (const change of changes) for (const [table, see] of watches) if (table === change.table) see(change, changes);
    if (changes.length > 0 && chance.happens(faults.unanswered)) throw failed('the connection broke');
  }),
}));

export const database = {
  faults,
  /** Calls `see` for each committed change of a table. */
  watch: (table: TableName, see: Watch) => void watches.push([table, see]),
  /** Whether a row for which `isIt` is true was ever committed, and not lost by a fail-over. */
  hasStored: (table: TableName, isIt: (row: Row) => boolean): boolean =>
    state.history.some(({ changes }) => changes.some((each) => each.table === table && each.after && isIt(each.after))),
  rows: (table: TableName): Row[] => state.all.stored.all(table),
  /** The number of transactions that have been open for longer than the time-out of a statement. */
  oldTransactions: () => [...state.all.open].filter(({ since }) => since < kernel.now() - STATEMENT_TIMEOUT).length,
  /** The connection of an instance. Statements over a line that is cut are lost, which the instance notices after `STATEMENT_TIMEOUT`. */
  connect() {
    const line = { isDead: false, isCut: false };
    const travel = async (): Promise<void> => {
      await kernel.sleep(state.chance.between(0.1, faults.latency));
      if (!line.isDead && !line.isCut) return;
      await kernel.sleep(STATEMENT_TIMEOUT);
      throw failed('the line was cut');
    };
    const send: Send = async (by, work, changes) => {
      const { chance } = state;
      const thereAndBack = async () => {
        if (chance.happens(faults.failing)) throw failed('the connection broke');
        await travel();
        while (faults.isFrozen) await kernel.sleep(chance.between(10, 1_000));
        if (faults.isDown) throw failed('the database is down');
        if (changes && chance.happens(faults.refused)) throw failed('the database is read-only');
        const result = await work();
        await travel();
        return result;
      };
      const late = Promise.withResolvers<never>();
      const timer = kernel.after(STATEMENT_TIMEOUT, () => late.reject(failed('no answer in time')));
      try {
        return await Promise.race([by.orEnd(thereAndBack()), late.promise]);
      } finally {
        timer.call = null;
        // If the process of the instance was killed, its code must not go on.
        if (line.isDead) await new Promise(() => undefined);
      }
    };
    return { line, ...state.all.connect(send) };
  },
  /** A fail-over that loses the commits of the last milliseconds. @returns the lost changes, the latest first */
  forget(milliseconds: number): Change[] {
    for (const each of state.all.open) each.end();
    const first = kernel.time - milliseconds;
    const changes = state.history.flatMap((each) => (each.at > first ? each.changes : [])).reverse();
    state.history = state.history.filter(({ at }) => at <= first);
    for (const { table, key, before } of changes) state.all.stored.set(table, key, before);
    return changes;
  },
};

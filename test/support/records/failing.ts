import { callsOver, keyOf, memoryRows, type Row, transactOver } from '../../../src/adapters/records/memory.ts';
import { type Calls, recordsOver, type Transact } from '../../../src/adapters/records/storage.ts';
import type { Records } from '../../../src/application/storage/records.ts';
import { TABLES, type TableName } from '../../../src/application/storage/tables.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { callsMadeBy, makeCall } from './calls-by.ts';

const NAMES = Object.keys(TABLES) as TableName[];

/** All rows of all tables at one time. */
export type Contents = ReadonlyMap<TableName, readonly Row[]>;

/**
 * The number of the statement that fails. A `refused` statement is not carried out; a `lost` one is, but its answer is lost. Only
 * a commit or a statement outside of a unit is lost, because within a unit the failure undoes everything either way.
 */
export type Fault = { readonly at: number; readonly how: 'refused' | 'lost' };

/** Records in memory of which one statement can fail, with access to their contents. */
export const failingRecords = () => {
  const stored = memoryRows();
  let fault: Fault | null = null;
  let sent = 0;
  let open = 0;
  /** Counts a statement. @returns whether its answer is lost @throws AppError if it is refused */
  const send = (canBeLost: boolean): boolean => {
    if (canBeLost || fault?.how !== 'lost') sent += 1;
    if (fault?.at !== sent) return false;
    if (fault.how === 'lost') return canBeLost;
    throw failed();
  };
  const failableCalls = (calls: Calls, canBeLost: boolean): Calls =>
    callsMadeBy(async (...call) => {
      const isLost = send(canBeLost);
      const answer = await makeCall(calls, ...call);
      if (isLost) throw failed();
      return answer;
    });
  const transactInTurn = transactOver(stored, (rows) => failableCalls(callsOver(rows), false));
  const transact: Transact = async (work) => {
    let isLost = false;
    open += 1;
    try {
      const result = await transactInTurn(async (inside) => {
        const done = await work(inside);
        isLost = send(true);
        return done;
      });
      if (isLost) throw failed();
      return result;
    } finally {
      open -= 1;
    }
  };
  return {
    records: recordsOver(failableCalls(callsOver(stored), true), transact) as Records,
    contents: (): Contents => new Map(NAMES.map((name) => [name, stored.all(name)])),
    restore: (contents: Contents): void => {
      for (const name of NAMES) for (const row of stored.all(name)) stored.set(name, keyOf(name, row), undefined);
      for (const [name, rows] of contents) for (const row of rows) stored.set(name, keyOf(name, row), row);
    },
    openUnits: () => open,
    /** Starts counting again, and makes one statement fail, or none. */
    fail: (next: Fault | null): void => {
      [fault, sent] = [next, 0];
    },
    /** Whether the statement that is to fail was sent. */
    hasFailed: () => fault !== null && sent >= fault.at,
  };
};

const failed = () => new AppError('DB_QUERY_FAILED', { reason: 'the statement of the test' });

/** The differences in each table: how many rows were added and removed, and which columns changed. */
export const changesBetween = (before: Contents, after: Contents): readonly string[] =>
  NAMES.flatMap((name) => {
    const rowsOf = (contents: Contents) => new Map(contents.get(name)?.map((row) => [keyOf(name, row), row]));
    const [former, now] = [rowsOf(before), rowsOf(after)];
    const added = [...now.keys()].filter((key) => !former.has(key)).length;
    const removed = [...former.keys()].filter((key) => !now.has(key)).length;
    const columns = [...former].flatMap(([key, row]) => {
      const next = now.get(key) ?? row;
      return Object.keys(row).filter(
        (column) => column !== 'version' && JSON.stringify(row[column]) !== JSON.stringify(next[column]),
      );
    });
    const changed = [...new Set(columns)].sort();
    const texts = [added > 0 ? `+${added}` : [], removed > 0 ? `-${removed}` : [], changed].flat();
    return texts.length === 0 ? [] : [`${name} ${texts.join(' ')}`];
  });

import { setImmediate } from 'node:timers/promises';
import { callsOver, transactOver } from '../../../src/adapters/records/memory.ts';
import { memoryRows, type Rows, type StoredRows } from '../../../src/adapters/records/memory-rows.ts';
import type { Records } from '../../../src/adapters/records/records.ts';
import { type Calls, recordsOver, type Transact } from '../../../src/adapters/records/units.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import type { Database } from '../records/database.ts';

/** What an adapter in memory is made of. */
type Parts = {
  readonly callsOver: (rows: Rows) => Calls;
  readonly transact: Transact;
  readonly records: (correct: Records) => Records;
};
type Fault = {
  /** The parts of an instance that are wrong. */
  readonly wrong: (correct: Parts & { readonly stored: StoredRows }) => Partial<Parts>;
  readonly caughtBy: string;
};
export type Faults = Readonly<Record<string, Fault>>;

/** The same calls; foreign errors become DB_QUERY_FAILED. @param reasonOf what the error says of the foreign one. */
export const translating = <Methods extends object>(
  methods: Methods,
  reasonOf: (error: unknown) => string = (error) => (error instanceof Error ? error.name : 'unknown'),
): Methods =>
  Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [
      name,
      async (...given: unknown[]) => {
        try {
          return await method(...given);
        } catch (error) {
          if (error instanceof AppError) throw error;
          throw new AppError('DB_QUERY_FAILED', { reason: reasonOf(error) });
        }
      },
    ]),
  ) as Methods;

/** Rows whose every use fails with an error that quotes what is stored, as some drivers do. */
const failing = (stored: StoredRows): StoredRows => {
  const fail = (): never => {
    throw new Error(`duplicate key: ${JSON.stringify(stored.all('users'))}`);
  };
  const rows = { tables: stored.tables, get: fail, all: fail, set: fail };
  return { ...rows, begin: () => ({ ...rows, made: () => [], commit: () => true }) };
};

const open = (stored: StoredRows, fault: Fault | undefined): Records => {
  const translated = (rows: Rows): Calls => translating(callsOver(rows));
  const correct: Parts = {
    callsOver: translated,
    transact: transactOver(stored, translated),
    records: (records) => records,
  };
  const wrong = fault?.wrong({ ...correct, stored }) ?? {};
  const calls = wrong.callsOver ?? correct.callsOver;
  const transact = wrong.transact ?? transactOver(stored, calls);
  return (wrong.records ?? correct.records)(recordsOver(calls(stored), transact));
};

/** Makes tables in memory that several instances share. */
export const databaseInMemory = (fault?: Fault) => async (): Promise<Database> => {
  const stored = memoryRows();
  return {
    records: open(stored, fault),
    another: async () => open(stored, fault),
    failing: async () => open(failing(stored), fault),
    untilOneWaits: setImmediate,
  };
};

/** The same calls, some of which are wrong. */
export const calling =
  (change: (calls: Calls, rows: Rows) => Partial<Calls>): Fault['wrong'] =>
  (correct) => ({
    callsOver: (rows) => {
      const calls = correct.callsOver(rows);
      return { ...calls, ...change(calls, rows) };
    },
  });

/** One after the other within this process, as with a lock of its own. */
export const mutex = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = last.then(work, work);
    last = result.catch(() => undefined);
    return result;
  };
};

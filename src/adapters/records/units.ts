import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import { setTimeout as pause } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { Equal, Records, Stored } from '../../application/storage/records.ts';
import type { TableName } from '../../application/storage/tables.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { random } from '../clock/system.ts';

/** The error of a call that the store has undone because of a concurrent one: `unit` repeats the work. */
export class ConflictError extends AppError {
  constructor(reason: string) {
    super('DB_QUERY_FAILED', { reason });
  }
}

/** Whether a text can be stored by every database: some refuse NUL, and a lone surrogate has no UTF-8 encoding. */
export const isStorable = (value: unknown): boolean =>
  typeof value !== 'string' || (!value.includes('\0') && value.isWellFormed());

/** The error of a row with a text that cannot be stored. */
export const unstorable = (): AppError =>
  new AppError('DB_QUERY_FAILED', { reason: 'a text that cannot be stored: it has NUL or a lone surrogate' });

/** The version of a row that is inserted: random, so that it is not that of a row which had the same key. Each replacement adds 1. */
export const firstVersion = (): number => Math.floor(random() * 2 ** 47);

/**
 * Classes of failures, by SQLSTATE (PostgreSQL manual, appendix A), by the texts of SQLite's result codes, by the names and numbers of MySQL's
 * errors, by the codes of the system and the messages of drivers.
 */
const CLASSES = [
  ['read-only', /\b(?:25006|ER_OPTION_PREVENTS_STATEMENT|ER_READ_ONLY_MODE)\b|readonly database/],
  ['capacity', /\b(?:53\w{3}|ER_CON_COUNT_ERROR|ER_DISK_FULL|ER_RECORD_FILE_FULL)\b|disk is full/],
  ['timeout', /\b(?:57014|55P03|ER_LOCK_WAIT_TIMEOUT|1969|ER_QUERY_TIMEOUT)\b/],
  ['conflict', /\b(?:40\w{3}|ER_LOCK_DEADLOCK|ER_CHECKREAD)\b|is locked/],
  [
    'connection',
    /\b(?:08\w{3}|57P0\d|PROTOCOL_CONNECTION_LOST|ER_UNKNOWN_COM_ERROR|E[A-Z]{4,}|EAI_AGAIN)\b|[Cc]onnect|queryable|closed/,
  ],
] as const;

export const DATABASE_FAILURES = [...CLASSES.map(([name]) => name), 'other'] as const;

/** Of the process, as its other metrics: no statement has to be told who counts. */
const failures = channel('tandem:database-failure');

/** @param reason of the error, as `reasonOf` has it. */
export const failureClassOf = (reason: string): (typeof DATABASE_FAILURES)[number] =>
  CLASSES.find(([, words]) => words.test(reason))?.[0] ?? 'other';

export const publishDatabaseFailure = (reason: string): void => failures.publish(failureClassOf(reason));

/** @returns a function that ends it. */
export const onDatabaseFailure = (listener: (failure: string) => void): (() => void) => {
  const listen = (failure: unknown) => listener(String(failure));
  failures.subscribe(listen);
  return () => void failures.unsubscribe(listen);
};

/** The calls of `Records`, outside of units or within one. */
export type Calls = Omit<Records, 'unit' | 'isUnit'>;

/** Runs work in one transaction: commits when it resolves, and rolls back when it rejects. */
export type Transact = <Result>(work: (inside: Calls) => Promise<Result>) => Promise<Result>;

/** One run of the work of a unit. */
type Run = {
  isOver: boolean;
  /** Nothing is sent behind a call that was refused: MariaDB and MySQL may have undone the transaction, and would keep it by itself. */
  hasRefused: boolean;
  /** The first call that was refused. The transaction has failed, whatever the work makes of that. */
  failure: AppError | undefined;
  hasConflict: boolean;
  rejection: { readonly error: unknown } | undefined;
  readonly sent: Set<Promise<unknown>>;
  readonly inTurn: <Result>(call: () => Promise<Result>) => Promise<Result>;
};

const NEW_RUN = { isOver: false, hasRefused: false, failure: undefined, hasConflict: false, rejection: undefined };
const atOnce: Run['inTurn'] = (call) => call();

const MOST_RUNS = 10;
const LONGEST_PAUSE_MS = 100;

/** The units that this code is within. One that is over may have left callbacks behind, which are outside. */
const units = new AsyncLocalStorage<{ isOver: boolean }>();
export const isInUnit = (): boolean => units.getStore()?.isOver === false;

type UnitOptions = {
  /** Whether the calls of a unit may come while others are not answered yet, and are carried out in their order. Otherwise each waits. */
  readonly pipelines?: boolean;
};

/** Longer with each run, and random, so that the other unit can get its locks first. */
const afterConflict = (runs: number): Promise<void> =>
  pause(Math.min(LONGEST_PAUSE_MS, 5 * 2 ** runs) * (0.5 + random() / 2));

/**
 * The records of a store, from what it does for each call and for a transaction. Repeats a unit after a conflict, and refuses one within
 * another: it could wait for the outer one for ever, or be kept when the outer one fails.
 */
export const recordsOver = (calls: Calls, transact: Transact, { pipelines = false }: UnitOptions = {}): Records => ({
  ...eachCall(calls, async (call) => {
    if (isInUnit()) throw new AppError('SYS_UNEXPECTED_ERROR', { reason: 'a unit uses records that are not its own' });
    return call();
  }),
  async unit(work) {
    if (isInUnit()) throw new AppError('SYS_UNEXPECTED_ERROR', { reason: 'a transaction within another' });
    for (let runs = 1; ; runs += 1) {
      const inTurn = pipelines ? atOnce : pLimit(1);
      const run: Run = { ...NEW_RUN, sent: new Set(), inTurn };
      try {
        return await transact((inside) => inRun(run, () => work(insideOf(inside, run))));
      } catch (error) {
        const isConflict = run.hasConflict || error instanceof ConflictError;
        if (isConflict && runs < MOST_RUNS) {
          await afterConflict(runs);
          continue;
        }
        // If the rollback fails as well, that error matters less.
        throw isConflict ? (run.failure ?? error) : (run.rejection?.error ?? error);
      }
    }
  },
});

const inRun = <Result>(run: Run, work: () => Promise<Result>): Promise<Result> => {
  const unit = { isOver: false };
  return units.run(unit, async () => {
    try {
      const result = await work().finally(() => untilAnswered(run));
      if (run.failure !== undefined) throw run.failure;
      return result;
    } catch (error) {
      run.rejection = { error };
      // Any other error would be taken for one of the database.
      throw error instanceof AppError ? error : new AppError('SYS_UNEXPECTED_ERROR');
    } finally {
      unit.isOver = true;
      run.isOver = true;
    }
  });
};

/** Otherwise a call that the work did not wait for would be carried out after the transaction, and be kept. */
const untilAnswered = async ({ sent }: Run): Promise<void> => {
  while (sent.size > 0) await Promise.allSettled(sent);
};

/** The records of a unit. After a refused call, every database fails the others: as a conflict if that was a violation. */
const insideOf = (inside: Calls, run: Run): Records => ({
  isUnit: true,
  ...eachCall(lockingOnce(inside), async (call) => {
    if (run.isOver) throw new AppError('SYS_UNEXPECTED_ERROR', { reason: 'a transaction that is over' });
    const outcome = outcomeOf(call, run);
    run.sent.add(outcome);
    const forget = () => void run.sent.delete(outcome);
    outcome.then(forget, forget);
    return outcome;
  }),
  unit: async () => {
    throw new AppError('SYS_UNEXPECTED_ERROR', { reason: 'a transaction within another' });
  },
});

/** Calls fail in the order in which they were made: the first says what is wrong, and those that were sent behind it fail with it. */
const outcomeOf = async <Result>(call: () => Promise<Result>, run: Run): Promise<Result> => {
  const earlier = [...run.sent];
  const goesOnAfterViolation = run.failure?.code === 'DB_UNIQUE_VIOLATION';
  try {
    return await run.inTurn(async () => {
      if (run.hasRefused)
        throw new AppError('DB_QUERY_FAILED', { reason: 'an earlier call of the transaction was refused' });
      try {
        return await call();
      } catch (error) {
        run.hasRefused = true;
        throw error;
      }
    });
  } catch (error) {
    await Promise.allSettled(earlier);
    run.hasConflict ||= goesOnAfterViolation || error instanceof ConflictError;
    if (error instanceof AppError) run.failure ??= error;
    throw error;
  }
};

/** The same calls of a unit, which does not read again what it has locked and not changed since. */
const lockingOnce = (inside: Calls): Calls => {
  const locked = new Map<TableName, Map<string, Promise<unknown>>>();
  // Other rows go with a user.
  const forget = (table: TableName): void => {
    if (table === 'users') locked.clear();
    else locked.delete(table);
  };
  const changing = <Result>(table: TableName, change: () => Promise<Result>): Promise<Result> => {
    forget(table);
    return change().finally(() => forget(table));
  };
  return {
    ...inside,
    insert: (table, ...given) => changing(table, () => inside.insert(table, ...given)),
    replace: (table, ...given) => changing(table, () => inside.replace(table, ...given)),
    remove: (table, ...given) => changing(table, () => inside.remove(table, ...given)),
    async lock<Name extends TableName>(table: Name, key: Equal<Name>) {
      const place = JSON.stringify(key);
      const rows = (locked.get(table) ?? new Map()) as Map<string, Promise<Stored<Name> | null>>;
      const asked = rows.get(place) ?? inside.lock(table, key);
      locked.set(table, rows.set(place, asked));
      const row = await asked;
      if (row === null) rows.delete(place);
      return structuredClone(row);
    },
  };
};

const eachCall = (calls: Calls, make: <Result>(call: () => Promise<Result>) => Promise<Result>): Calls => ({
  insert: (...given) => make(() => calls.insert(...given)),
  list: (...given) => make(() => calls.list(...given)),
  replace: (...given) => make(() => calls.replace(...given)),
  remove: (...given) => make(() => calls.remove(...given)),
  lock: (...given) => make(() => calls.lock(...given)),
});

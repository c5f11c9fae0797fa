import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import { setTimeout as pause } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { UserRepository } from '../../application/ports/user-repository.ts';
import type { Equal, Listeners, Records, Storage, Stored, Stores } from '../../application/storage/records.ts';
import type { TableName } from '../../application/storage/tables.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { random } from '../clock/system.ts';
import { sessionRepositoryOver } from './sessions.ts';
import { userRepositoryOver } from './users.ts';

/** The store has refused or undone a call or a transaction, for instance because of a concurrent one. `unit` then repeats the work (`MAX_RUNS`). */
export class ConflictError extends AppError {
  constructor(reason: string) {
    super('DB_QUERY_FAILED', { reason });
  }
}

/** Whether every database can store a value: some refuse texts with NUL, and a lone surrogate cannot be encoded in UTF-8. */
export const isStorable = (value: unknown): boolean =>
  typeof value !== 'string' || (!value.includes('\0') && value.isWellFormed());

export const unstorable = (): AppError =>
  new AppError('DB_QUERY_FAILED', { reason: 'a text that cannot be stored: it has NUL or a lone surrogate' });

/** The version of a new row, to which each replacement adds 1. It is random, so that it differs from those of an earlier row with the same key. */
export const firstVersion = (): number => Math.floor(random() * 2 ** 47);

/** Classes of failures, by words of a `reason`: SQLSTATEs, SQLite's texts, names and numbers of MySQL's errors, system codes, drivers' messages. */
const CLASS_PATTERNS = [
  ['read-only', /\b(?:25006|ER_OPTION_PREVENTS_STATEMENT|ER_READ_ONLY_MODE)\b|readonly database/],
  ['capacity', /\b(?:53\w{3}|ER_CON_COUNT_ERROR|ER_DISK_FULL|ER_RECORD_FILE_FULL)\b|disk is full/],
  ['timeout', /\b(?:57014|55P03|ER_LOCK_WAIT_TIMEOUT|1969|ER_QUERY_TIMEOUT)\b/],
  ['conflict', /\b(?:40\w{3}|ER_LOCK_DEADLOCK|ER_CHECKREAD)\b|is locked/],
  [
    'connection',
    /\b(?:08\w{3}|57P0\d|PROTOCOL_CONNECTION_LOST|ER_UNKNOWN_COM_ERROR|E[A-Z]{4,}|EAI_AGAIN)\b|[Cc]onnect|queryable|closed|destroyed|calling end/,
  ],
] as const;

export const FAILURE_CLASSES = [...CLASS_PATTERNS.map(([name]) => name), 'other'] as const;

const failures = channel('tandem:database-failure');

export const failureClassOf = (reason: string): (typeof FAILURE_CLASSES)[number] =>
  CLASS_PATTERNS.find(([, words]) => words.test(reason))?.[0] ?? 'other';

export const publishDatabaseFailure = (reason: string): void => failures.publish(failureClassOf(reason));

/** Calls a listener with the class of each published failure. @returns a function that removes the listener */
export const onDatabaseFailure = (listener: (failure: string) => void): (() => void) => {
  const listen = (failure: unknown) => listener(String(failure));
  failures.subscribe(listen);
  return () => void failures.unsubscribe(listen);
};

/** The calls of `Records` with which a store implements it, outside of units or within one. */
export type Calls = Omit<Records, 'unit' | 'isUnit'>;

/** Runs work in one transaction, which commits when the work resolves, and rolls back when it rejects. */
export type Transact = <Result>(work: (inside: Calls) => Promise<Result>) => Promise<Result>;

type Run = {
  isOver: boolean;
  /** Whether the store has refused a call. No call is sent after it: MariaDB and MySQL may have ended the transaction, and would store later changes. */
  hasRefused: boolean;
  /** The error of the first refused call. If the work catches it and resolves, the transaction fails with it all the same. */
  failure?: AppError;
  hasConflict: boolean;
  /** The error with which the run has failed: that of the work, or `failure`. */
  rejection?: { readonly error: unknown };
  readonly unanswered: Set<Promise<unknown>>;
  readonly inTurn: <Result>(call: () => Promise<Result>) => Promise<Result>;
};

const MAX_RUNS = 10;
const MAX_PAUSE_MS = 100;

/** The unit to which the running code belongs. Callbacks that run after the end of a unit do not belong to it. */
const currentUnit = new AsyncLocalStorage<Run>();
export const isInUnit = (): boolean => currentUnit.getStore()?.isOver === false;

const misuseError = (reason: string): AppError => new AppError('SYS_UNEXPECTED_ERROR', { reason });
const rejectNested = async (): Promise<never> => {
  throw misuseError('a transaction within another');
};

/** Pauses for a random time before a unit is repeated, so that another unit can get its locks first. */
const pauseAfterConflict = (runs: number): Promise<void> =>
  pause(Math.min(MAX_PAUSE_MS, 5 * 2 ** runs) * (0.5 + random() / 2));

/**
 * Makes the records of a store from its calls. Repeats a unit after a conflict. Refuses a unit within another: the inner one could wait for the outer one
 * for ever, or be committed although the outer one fails.
 * @param options.pipelines whether the store accepts calls of a unit before earlier calls are answered, and executes them in the order of the calls
 */
export const recordsOver = (
  calls: Calls,
  transact: Transact,
  { pipelines = false }: { readonly pipelines?: boolean } = {},
): Records => ({
  ...wrapCalls(calls, async (call) => {
    if (isInUnit()) throw misuseError('a unit uses records that are not its own');
    return call();
  }),
  async unit(work) {
    if (isInUnit()) return rejectNested();
    for (let runs = 1; ; runs += 1) {
      const inTurn: Run['inTurn'] = pipelines ? (call) => call() : pLimit(1);
      const run: Run = { isOver: false, hasRefused: false, hasConflict: false, unanswered: new Set(), inTurn };
      try {
        return await transact((inside) => runWork(run, () => work(recordsOfRun(inside, run))));
      } catch (error) {
        const isConflict = run.hasConflict || error instanceof ConflictError;
        if (isConflict && runs < MAX_RUNS) {
          await pauseAfterConflict(runs);
          continue;
        }
        // `error` may be a replacement (`runWork`) or an error of the rollback, and says less than the error of the run.
        throw isConflict ? (run.failure ?? error) : (run.rejection?.error ?? error);
      }
    }
  },
});

const runWork = <Result>(run: Run, work: () => Promise<Result>): Promise<Result> =>
  currentUnit.run(run, async () => {
    try {
      const result = await work().finally(() => untilAnswered(run));
      if (run.failure !== undefined) throw run.failure;
      return result;
    } catch (error) {
      run.rejection = { error };
      // Other errors than AppErrors are replaced, since `transact` would treat them as errors of the database.
      throw error instanceof AppError ? error : new AppError('SYS_UNEXPECTED_ERROR');
    } finally {
      run.isOver = true;
    }
  });

/** Waits for all calls of a run: a call that the work has not awaited could otherwise be executed after the transaction. */
const untilAnswered = async ({ unanswered }: Run): Promise<void> => {
  while (unanswered.size > 0) await Promise.allSettled(unanswered);
};

/** The records of a unit. After a refused call, all later calls fail. If the refused call was a violation, a later call also causes the unit to be repeated. */
const recordsOfRun = (inside: Calls, run: Run): Records => ({
  isUnit: true,
  ...wrapCalls(withCachedLocks(inside), async (call) => {
    if (run.isOver) throw misuseError('a transaction that is over');
    const outcome = executeInOrder(call, run);
    run.unanswered.add(outcome);
    const forget = () => void run.unanswered.delete(outcome);
    outcome.then(forget, forget);
    return outcome;
  }),
  unit: rejectNested,
});

/** Calls fail in the order in which they were made, so that the first error that the work gets is the error of the refused call. */
const executeInOrder = async <Result>(call: () => Promise<Result>, run: Run): Promise<Result> => {
  const earlierCalls = [...run.unanswered];
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
    await Promise.allSettled(earlierCalls);
    run.hasConflict ||= goesOnAfterViolation || error instanceof ConflictError;
    if (error instanceof AppError) run.failure ??= error;
    throw error;
  }
};

/** `lock` does not read a row again that it has found, until the unit changes the row's table, or `users`. */
const withCachedLocks = (inside: Calls): Calls => {
  const lockedRows = new Map<TableName, Map<string, Promise<unknown>>>();
  // Removing a user also removes rows of other tables.
  const forget = (table: TableName): void => {
    if (table === 'users') lockedRows.clear();
    else lockedRows.delete(table);
  };
  const forgettingLocks = <Result>(table: TableName, change: () => Promise<Result>): Promise<Result> => {
    forget(table);
    return change().finally(() => forget(table));
  };
  return {
    ...inside,
    insert: (table, ...given) => forgettingLocks(table, () => inside.insert(table, ...given)),
    replace: (table, ...given) => forgettingLocks(table, () => inside.replace(table, ...given)),
    remove: (table, ...given) => forgettingLocks(table, () => inside.remove(table, ...given)),
    async lock<Name extends TableName>(table: Name, key: Equal<Name>) {
      const name = JSON.stringify(key);
      const rows = (lockedRows.get(table) ?? new Map()) as Map<string, Promise<Stored<Name> | null>>;
      const reading = rows.get(name) ?? inside.lock(table, key);
      lockedRows.set(table, rows.set(name, reading));
      const row = await reading;
      if (row === null) rows.delete(name);
      return structuredClone(row);
    },
  };
};

const wrapCalls = (calls: Calls, wrap: <Result>(call: () => Promise<Result>) => Promise<Result>): Calls => ({
  insert: (...given) => wrap(() => calls.insert(...given)),
  list: (...given) => wrap(() => calls.list(...given)),
  replace: (...given) => wrap(() => calls.replace(...given)),
  remove: (...given) => wrap(() => calls.remove(...given)),
  lock: (...given) => wrap(() => calls.lock(...given)),
});

/** The stores over records. @param users the repository of an application with a table of users of its own. Sessions use it, too. */
export const storesOver = (records: Records, users: UserRepository = userRepositoryOver(records)): Stores => ({
  users,
  sessions: sessionRepositoryOver(records, users),
  records,
  tell: () => undefined,
});

/**
 * The whole storage of the service over records.
 * @param open makes the stores, over the records of a unit or over the records outside of units
 *
 * @example
 * const storage = storageOver(records, (inside) => storesOver(inside, usersOfTheShop()));
 */
export const storageOver = (records: Records, open: (records: Records) => Stores = storesOver): Storage => ({
  ...open(records),
  transactions: { run: (work) => records.unit((inside) => work(open(inside))) },
});

/** A storage whose `tell` calls the listeners: outside of `transactions` at once, within a transaction after the commit. */
export const storageWithListeners = ({ transactions, ...stores }: Storage, listeners: Listeners): Storage => ({
  ...stores,
  tell: (listen) => listen(listeners),
  transactions: {
    async run(work) {
      let waitingCalls: ((listeners: Listeners) => void)[] = [];
      const result = await transactions.run((inside) => {
        // The work may run several times, and only its last run is committed.
        waitingCalls = [];
        return work({ ...inside, tell: (listen) => waitingCalls.push(listen) });
      });
      for (const listen of waitingCalls) listen(listeners);
      return result;
    },
  },
});

import { callsOver, memoryRows, type Row } from '../../src/adapters/records/memory.ts';
import { type Calls, ConflictError, recordsOver, type Transact } from '../../src/adapters/records/storage.ts';
import { TABLES, type TableName, uniquesOf } from '../../src/application/storage/tables.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { callOf, callsBy } from '../support/records/calls-by.ts';
import { kernel, perWorld } from './kernel.ts';

/** One database for all instances: READ COMMITTED with locks of rows, as PostgreSQL has them, and its faults. */

/** Milliseconds: some time after it the client knows that a statement has failed, which may be carried out all the same. */
const STATEMENT_TIMEOUT = 5_000;
/** `latency`: milliseconds at most of each way. The others: how often statements fail, commits get no answer, changes are refused. */
export const NO_FAULTS = { latency: 2, failing: 0, unanswered: 0, refused: 0, isFrozen: false, isDown: false };

export type Change = {
  readonly table: TableName;
  readonly key: string;
  readonly before: Row | undefined;
  readonly after: Row | undefined;
};
type Watch = (change: Change, changes: readonly Change[]) => void;
/** The way of an instance to the database. */
type Line = { isDead: boolean; isCut: boolean };

const failed = (reason: string) => new AppError('DB_QUERY_FAILED', { reason });
const faults = perWorld(() => ({ ...NO_FAULTS }));
const state = perWorld((chance) => ({
  chance,
  stored: memoryRows(),
  open: new Set<Transaction>(),
  /** Who has locked what last. */
  owners: new Map<string, Transaction>(),
  history: [] as { readonly at: number; readonly changes: Change[] }[],
}));
const watches: (readonly [TableName, Watch])[] = [];

class Transaction {
  readonly rows = state.stored.begin();
  readonly ended = Promise.withResolvers<void>();
  readonly since = kernel.time;
  readonly line: Line;
  waitsFor: Transaction | undefined;

  constructor(line: Line) {
    this.line = line;
    state.open.add(this);
  }
  isOpen = (): boolean => state.open.has(this);
  end(): void {
    state.open.delete(this);
    this.ended.resolve();
  }
  orEnd = <Result>(work: Promise<Result>): Promise<Result> =>
    work.catch((error: unknown) => {
      this.end();
      throw error;
    });
}

/** What calls lock before they are carried out: the keys of rows, and their values that nobody else may have. */
const locksOf = (table: TableName, rows: readonly Row[]): string[] =>
  rows.flatMap((row) =>
    uniquesOf(TABLES[table])
      .map(([index, columns]) => [table, index, ...columns.map((column) => row[column] ?? null)])
      .filter((names) => !names.includes(null))
      .map(String),
  );

const lock = async (by: Transaction, name: string): Promise<void> => {
  const { owners } = state;
  for (let owner = owners.get(name); by.isOpen() && owner?.isOpen() && owner !== by; owner = owners.get(name)) {
    for (let each: Transaction | undefined = owner; each; each = each.waitsFor)
      if (each === by) throw new ConflictError('deadlock');
    by.waitsFor = owner;
    await Promise.race([owner.ended.promise, by.ended.promise]);
    by.waitsFor = undefined;
  }
  if (!by.isOpen()) throw failed('the transaction was rolled back');
  owners.set(name, by);
};

const perform = async (by: Transaction, name: keyof Calls, given: readonly unknown[]): Promise<unknown> => {
  const [table, ...rows] = given as [TableName, ...Row[]];
  if (!/^l/.test(name) && state.chance.happens(faults.refused)) throw failed('the database is read-only');
  for (const each of name === 'list' ? [] : locksOf(table, rows.flat()).sort()) await lock(by, each);
  return callOf(callsOver(by.rows), name, given);
};

const commit = (by: Transaction): void => {
  const { stored, history, chance } = state;
  if (!by.isOpen()) throw failed('the transaction was rolled back');
  const changes = by.rows.made().map((each) => ({ ...each, before: stored.get(each.table, each.key) }));
  by.end();
  const isOrphan = ({ table, after }: Change) =>
    TABLES[table].ofUser && after?.userId && !by.rows.get('users', JSON.stringify([after.userId]));
  if (changes.some(isOrphan)) throw failed('a row has no user');
  for (const { table, key, after } of changes) stored.set(table, key, after);
  history.push({ at: kernel.time, changes });
  for (const change of changes) for (const [table, see] of watches) if (table === change.table) see(change, changes);
  if (changes.length > 0 && chance.happens(faults.unanswered)) throw failed('the connection broke');
};

/** One way over the network. What is sent over a cut line is lost, and both ends notice that some time later. */
const travel = async (line: Line): Promise<void> => {
  await kernel.sleep(state.chance.between(0.1, faults.latency));
  if (!line.isDead && !line.isCut) return;
  await kernel.sleep(STATEMENT_TIMEOUT);
  throw failed('the line was cut');
};

/** There and back. A transaction ends with the first statement that fails. */
const ask = async <Result>(by: Transaction, work: () => Result | Promise<Result>): Promise<Result> => {
  const { chance } = state;
  const there = async (): Promise<Result> => {
    if (chance.happens(faults.failing)) throw failed('the connection broke');
    await travel(by.line);
    while (faults.isFrozen) await kernel.sleep(chance.between(10, 1_000));
    if (faults.isDown) throw failed('the database is down');
    const result = await work();
    await travel(by.line);
    return result;
  };
  const late = Promise.withResolvers<never>();
  const timer = kernel.after(STATEMENT_TIMEOUT, () => late.reject(failed('no answer in time')));
  try {
    return await Promise.race([by.orEnd(there()), late.promise]);
  } finally {
    timer.call = null;
    // A process that has died gets to know nothing.
    if (by.line.isDead) await new Promise(() => undefined);
  }
};

export const database = {
  faults,
  /** Sees each change of a table once it is committed. */
  watch: (table: TableName, see: Watch) => void watches.push([table, see]),
  /** Whether such a row was ever committed, and not forgotten. */
  hasStored: (table: TableName, isIt: (row: Row) => boolean): boolean =>
    state.history.some(({ changes }) => changes.some((each) => each.table === table && each.after && isIt(each.after))),
  rows: (table: TableName): Row[] => state.stored.all(table),
  /** Those that began before the last statement could have timed out. */
  oldTransactions: () => [...state.open].filter(({ since }) => since < kernel.time - STATEMENT_TIMEOUT).length,
  connect() {
    const line: Line = { isDead: false, isCut: false };
    const transact: Transact = async (work) => {
      const by = new Transaction(line);
      const inside = callsBy((...call) => ask(by, () => perform(by, ...call)));
      const result = await by.orEnd(work(inside));
      await ask(by, () => commit(by));
      return result;
    };
    /** Calls outside of a unit: each is a transaction of its own. */
    const alone = callsBy((...call) => transact((inside) => callOf(inside, ...call)));
    const kill = (): void => {
      line.isDead = true;
      for (const each of state.open) if (each.line === line) each.end();
    };
    return { line, records: recordsOver(alone, transact), kill };
  },
  /** A fail-over loses the commits of the last milliseconds. @returns what was lost */
  forget(milliseconds: number): Change[] {
    for (const each of state.open) each.end();
    const first = kernel.time - milliseconds;
    const changes = state.history.flatMap((each) => (each.at > first ? each.changes : [])).reverse();
    state.history = state.history.filter(({ at }) => at <= first);
    for (const { table, key, before } of changes) state.stored.set(table, key, before);
    return changes;
  },
};

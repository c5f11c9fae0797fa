import { callsOver, memoryRows, type Row } from '../../../src/adapters/records/memory.ts';
import { type Calls, ConflictError, recordsOver, type Transact } from '../../../src/adapters/records/storage.ts';
import { TABLES, type TableName, uniquesOf } from '../../../src/application/storage/tables.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { callOf, callsBy } from './calls-by.ts';

export type Change = {
  readonly table: TableName;
  readonly key: string;
  readonly before: Row | undefined;
  readonly after: Row | undefined;
};

export const failed = (reason: string) => new AppError('DB_QUERY_FAILED', { reason });

/** Carries out a statement of a transaction, or its commit. With the first that fails it has to end (`orEnd`), however late that is known. */
export type Send = <Result>(by: Transaction, work: () => Promise<Result>, changes: boolean) => Promise<Result>;

/** One database in memory: READ COMMITTED with locks of rows, as PostgreSQL has them. Its transactions run beside each other. */
export class ReadCommitted {
  readonly stored = memoryRows();
  readonly open = new Set<Transaction>();
  /** Who has locked what last. */
  readonly owners = new Map<string, Transaction>();
  readonly onCommit: (changes: Change[]) => void;

  constructor(onCommit: (changes: Change[]) => void = () => undefined) {
    this.onCommit = onCommit;
  }
  /** `close` ends what is open, as when the process has died. */
  connect(send: Send = (by, work) => by.orEnd(work())) {
    const own = new WeakSet<Transaction>();
    const transact: Transact = async (work) => {
      const by = new Transaction(this);
      own.add(by);
      const inside = callsBy((...call) => send(by, () => by.perform(...call), !/^l/.test(call[0])));
      const result = await by.orEnd(work(inside));
      await send(by, () => by.commit(), false);
      return result;
    };
    /** Calls outside of a unit: each is a transaction of its own. */
    const alone = callsBy((...call) => transact((inside) => callOf(inside, ...call)));
    const close = (): void => {
      for (const each of this.open) if (own.has(each)) each.end();
    };
    return { records: recordsOver(alone, transact), close };
  }
}

class Transaction {
  readonly since = Date.now();
  readonly #ended = Promise.withResolvers<void>();
  readonly #database: ReadCommitted;
  readonly #rows;
  #waitsFor: Transaction | undefined;

  constructor(database: ReadCommitted) {
    this.#database = database;
    this.#rows = database.stored.begin();
    database.open.add(this);
  }
  isOpen = (): boolean => this.#database.open.has(this);
  end(): void {
    this.#database.open.delete(this);
    this.#ended.resolve();
  }
  orEnd = <Result>(work: Promise<Result>): Promise<Result> =>
    work.catch((error: unknown) => {
      this.end();
      throw error;
    });
  async perform(name: keyof Calls, given: readonly unknown[]): Promise<unknown> {
    const [table, ...rows] = given as [TableName, ...Row[]];
    for (const each of name === 'list' ? [] : locksOf(table, rows.flat()).sort()) await this.#lock(each);
    return callOf(callsOver(this.#rows), name, given);
  }
  async #lock(name: string): Promise<void> {
    const { owners } = this.#database;
    for (let by = owners.get(name); this.isOpen() && by?.isOpen() && by !== this; by = owners.get(name)) {
      for (let each: Transaction | undefined = by; each; each = each.#waitsFor)
        if (each === this) throw new ConflictError('deadlock');
      this.#waitsFor = by;
      await Promise.race([by.#ended.promise, this.#ended.promise]);
      this.#waitsFor = undefined;
    }
    this.#assertOpen();
    owners.set(name, this);
  }
  #assertOpen(): void {
    if (!this.isOpen()) throw failed('the transaction was rolled back');
  }
  async commit(): Promise<void> {
    this.#assertOpen();
    const { stored } = this.#database;
    const changes = this.#rows.list().map((each) => ({ ...each, before: stored.get(each.table, each.key) }));
    this.end();
    const isOrphan = ({ table, after }: Change) =>
      TABLES[table].ofUser && after?.userId && !this.#rows.get('users', JSON.stringify([after.userId]));
    if (changes.some(isOrphan)) throw failed('a row has no user');
    for (const { table, key, after } of changes) stored.set(table, key, after);
    this.#database.onCommit(changes);
  }
}

/** What calls lock before they are carried out: the keys of rows, and their values that nobody else may have. */
const locksOf = (table: TableName, rows: readonly Row[]): string[] =>
  rows.flatMap((row) =>
    uniquesOf(TABLES[table])
      .map(([index, columns]) => [table, index, ...columns.map((column) => row[column] ?? null)])
      .filter((names) => !names.includes(null))
      .map(String),
  );

import { callsOver, memoryRows, type Row } from '../../../src/adapters/records/memory.ts';
import { type Calls, ConflictError, recordsOver, type Transact } from '../../../src/adapters/records/storage.ts';
import { TABLES, type TableName, uniquesOf } from '../../../src/application/storage/tables.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { callsMadeBy, makeCall } from './calls-by.ts';

export type Change = {
  readonly table: TableName;
  readonly key: string;
  readonly before: Row | undefined;
  readonly after: Row | undefined;
};

export const failed = (reason: string) => new AppError('DB_QUERY_FAILED', { reason });

/** Carries out a statement of a transaction or its commit. It must end the transaction (`orEnd`) if the statement fails. */
export type Send = <Result>(by: Transaction, work: () => Promise<Result>, changes: boolean) => Promise<Result>;

/** A database in memory whose transactions run concurrently, with READ COMMITTED and row locks as in PostgreSQL. */
export class ReadCommitted {
  readonly stored = memoryRows();
  readonly open = new Set<Transaction>();
  /** The transaction that last locked each name. */
  readonly owners = new Map<string, Transaction>();
  readonly onCommit: (changes: Change[]) => void;

  constructor(onCommit: (changes: Change[]) => void = () => undefined) {
    this.onCommit = onCommit;
  }
  /** Opens a connection. Its `close` ends its open transactions, as when the process dies. */
  connect(send: Send = (by, work) => by.orEnd(work())) {
    const own = new WeakSet<Transaction>();
    const transact: Transact = async (work) => {
      const by = new Transaction(this);
      own.add(by);
      const inside = callsMadeBy((...call) => send(by, () => by.perform(...call), !/^l/.test(call[0])));
      const result = await by.orEnd(work(inside));
      await send(by, () => by.commit(), false);
      return result;
    };
    /** A call outside of a unit is a transaction of its own. */
    const alone = callsMadeBy((...call) => transact((inside) => makeCall(inside, ...call)));
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
    return makeCall(callsOver(this.#rows), name, given);
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

/** The names that a call locks before it runs: the keys of its rows, and their unique values. */
const locksOf = (table: TableName, rows: readonly Row[]): string[] =>
  rows.flatMap((row) =>
    uniquesOf(TABLES[table])
      .map(([index, columns]) => [table, index, ...columns.map((column) => row[column] ?? null)])
      .filter((names) => !names.includes(null))
      .map(String),
  );

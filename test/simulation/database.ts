import { callsOver, memoryRows, type Row, type StoredRows } from '../../src/adapters/records/memory.ts';
import { type Calls, ConflictError, recordsOver, type Transact } from '../../src/adapters/records/units.ts';
import { TABLES, type TableName, uniquesOf } from '../../src/application/storage/tables.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { type Chance, kernel } from './kernel.ts';

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
/** The way of an instance to the database. */
type Line = { isDead: boolean; isCut: boolean };
type Transaction = ReturnType<typeof transactionOn> & { waitsFor?: Transaction | undefined };
export type SimulatedDatabase = ReturnType<typeof simulatedDatabase>;

const failed = (reason: string) => new AppError('DB_QUERY_FAILED', { reason });

const transactionOn = (line: Line, stored: StoredRows) => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const rows = stored.begin();
  return { line, rows, calls: callsOver(rows), ended, end, isOpen: true };
};
const end = (transaction: Transaction): void => {
  transaction.isOpen = false;
  transaction.end();
};

const orEnd = <Result>(by: Transaction, work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    end(by);
    throw error;
  });

/** What calls lock before they are carried out: the keys of rows, and their values that nobody else may have. */
const locksOf = (table: TableName, rows: readonly Row[]): string[] =>
  rows.flatMap((row) =>
    uniquesOf(TABLES[table])
      .map(([index, columns]) => [table, index, ...columns.map((column) => row[column] ?? null)])
      .filter((names) => !names.includes(null))
      .map(String),
  );

const lockTable = () => {
  const owners = new Map<string, Transaction>();
  const isDeadlock = (by: Transaction, owner: Transaction | undefined): boolean =>
    owner === by || (owner !== undefined && isDeadlock(by, owner.waitsFor));
  return async (by: Transaction, name: string): Promise<void> => {
    for (let owner = owners.get(name); by.isOpen && owner?.isOpen && owner !== by; owner = owners.get(name)) {
      if (isDeadlock(by, owner)) throw new ConflictError('deadlock');
      by.waitsFor = owner;
      await Promise.race([owner.ended, by.ended]);
      by.waitsFor = undefined;
    }
    if (!by.isOpen) throw failed('the transaction was rolled back');
    owners.set(name, by);
  };
};

const NAMES = ['list', 'lock', 'insert', 'replace', 'remove'] as const;
const callsOf = (make: (name: keyof Calls, given: unknown[]) => Promise<unknown>) =>
  Object.fromEntries(NAMES.map((name) => [name, (...given: unknown[]) => make(name, given)])) as unknown as Calls;

/** Transactions at the server, and what it remembers of commits. */
const openServer = (stored: StoredRows, faults: typeof NO_FAULTS, chance: Chance) => {
  const lock = lockTable();
  const watchers: ((changes: readonly Change[]) => void)[] = [];
  let open: Transaction[] = [];
  let history: { readonly at: number; readonly changes: Change[] }[] = [];
  const isOrphan = ({ rows }: Transaction, { table, after }: Change): boolean =>
    Boolean(TABLES[table].ofUser && after?.userId && !rows.get('users', JSON.stringify([after.userId])));
  const server = {
    watchers,
    /** Those that have not ended. */
    transactions: () => open.filter(({ isOpen }) => isOpen),
    begin(line: Line): Transaction {
      const transaction = transactionOn(line, stored);
      open = [...server.transactions(), transaction];
      return transaction;
    },
    async perform(by: Transaction, name: keyof Calls, given: unknown[]): Promise<unknown> {
      const [table, ...rest] = given as [TableName, ...Row[]];
      if (!/^l/.test(name) && chance.happens(faults.refused)) throw failed('the database is read-only');
      for (const each of name === 'list' ? [] : locksOf(table, rest.flat()).sort()) await lock(by, each);
      return (by.calls[name] as (...all: unknown[]) => Promise<unknown>)(...given);
    },
    commit(by: Transaction): void {
      if (!by.isOpen) throw failed('the transaction was rolled back');
      const changes = by.rows.made().map((each) => ({ ...each, before: stored.get(each.table, each.key) }));
      end(by);
      if (changes.some((change) => isOrphan(by, change))) throw failed('a row has no user');
      for (const { table, key, after } of changes) stored.set(table, key, after);
      history.push({ at: kernel.time, changes });
      for (const watch of watchers) watch(changes);
      if (changes.length > 0 && chance.happens(faults.unanswered)) throw failed('the connection broke');
    },
    /** A fail-over loses the commits of the last milliseconds. @returns what was lost */
    forget(milliseconds: number): Change[] {
      for (const each of open) end(each);
      const first = kernel.time - milliseconds;
      const changes = history.flatMap((each) => (each.at > first ? each.changes : [])).reverse();
      history = history.filter(({ at }) => at <= first);
      for (const { table, key, before } of changes) stored.set(table, key, before);
      return changes;
    },
  };
  return server;
};

/** Rejects when a statement takes too long. A process that has died gets to know nothing. */
const inTime = <Result>(line: Line, work: () => Promise<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    const settle = (work: () => void): void => {
      timer.call = null;
      if (!line.isDead) work();
    };
    const timer = kernel.after(STATEMENT_TIMEOUT, () => settle(() => reject(failed('no answer in time'))));
    work().then(
      (result) => settle(() => resolve(result)),
      (error) => settle(() => reject(error)),
    );
  });

export const simulatedDatabase = (chance: Chance) => {
  const stored = memoryRows();
  const faults = { ...NO_FAULTS };
  const server = openServer(stored, faults, chance);
  /** One way over the network. What is sent over a cut line is lost, and both ends notice that some time later. */
  const travel = async (line: Line): Promise<void> => {
    await kernel.sleep(chance.between(0.1, faults.latency));
    if (!line.isDead && !line.isCut) return;
    await kernel.sleep(STATEMENT_TIMEOUT);
    throw failed('the line was cut');
  };
  /** There and back. A transaction ends with the first statement that fails. */
  const ask = <Result>(by: Transaction, work: () => Result | Promise<Result>): Promise<Result> => {
    const there = async (): Promise<Result> => {
      if (chance.happens(faults.failing)) throw failed('the connection broke');
      await travel(by.line);
      while (faults.isFrozen) await kernel.sleep(chance.between(10, 1_000));
      if (faults.isDown) throw failed('the database is down');
      const result = await work();
      await travel(by.line);
      return result;
    };
    return inTime(by.line, () => orEnd(by, there()));
  };
  const transactOn =
    (line: Line): Transact =>
    async (work) => {
      const by = server.begin(line);
      const inside = callsOf((name, given) => ask(by, () => server.perform(by, name, given)));
      const result = await orEnd(by, work(inside));
      await ask(by, () => server.commit(by));
      return result;
    };
  /** Calls outside of a unit: each is a transaction of its own. */
  const alone = (line: Line) =>
    callsOf((name, given) =>
      transactOn(line)((inside) => (inside[name] as (...all: unknown[]) => Promise<unknown>)(...given)),
    );
  return {
    ...{ faults, watchers: server.watchers, forget: server.forget },
    rows: (table: TableName): Row[] => stored.all(table),
    openTransactions: () => server.transactions().length,
    connect() {
      const line: Line = { isDead: false, isCut: false };
      const kill = (): void => {
        line.isDead = true;
        for (const each of server.transactions()) if (each.line === line) end(each);
      };
      return { line, records: recordsOver(alone(line), transactOn(line)), kill };
    },
  };
};

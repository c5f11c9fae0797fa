import { callsOver } from '../../src/adapters/records/memory.ts';
import { keyOf, memoryRows, type Row, type Rows } from '../../src/adapters/records/memory-rows.ts';
import { ConflictError } from '../../src/adapters/records/records.ts';
import { TABLES, type TableName, uniquesOf } from '../../src/adapters/records/tables.ts';
import { type Calls, recordsOver, type Transact } from '../../src/adapters/records/units.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import type { Chance } from './chance.ts';
import { kernel, MINUTE } from './kernel.ts';

/** One database for all instances: READ COMMITTED with locks of rows, as PostgreSQL has them, and its faults. */

const NAMES = Object.keys(TABLES) as TableName[];
const CALLS = ['list', 'lock', 'insert', 'replace', 'remove'] as const;
/** Milliseconds: some time after it the client knows that a statement has failed, which may be carried out all the same. */
const STATEMENT_TIMEOUT = 5_000;
/** What is kept of commits, to be forgotten by a fail-over. */
const REMEMBERED = MINUTE;

/** `latency`: milliseconds at most of each way. `failing`, `unanswered`: how often statements fail, and commits get no answer. */
export const NO_FAULTS = { latency: 2, failing: 0, unanswered: 0, frozenUntil: 0, downUntil: 0 };

const failed = (reason: string) => new AppError('DB_QUERY_FAILED', { reason });

export type Change = {
  readonly table: TableName;
  readonly key: string;
  readonly before: Row | undefined;
  readonly after: Row | undefined;
};
/** The way of an instance to the database. */
type Line = { isDead: boolean; cutUntil: number };
type Transaction = ReturnType<typeof transactionOn>;

/** Changes over what is stored, which nobody else sees. */
const overlay = (stored: Rows) => {
  const changed = new Map<string, Omit<Change, 'before'>>();
  const rows: Rows = {
    tables: TABLES,
    get: (table, key) => (changed.get(table + key) ?? { after: stored.get(table, key) }).after,
    all(table) {
      const own = [...changed.values()].filter((each) => each.table === table).map(({ after }) => after);
      const others = stored.all(table).filter((row) => !changed.has(table + keyOf(table, row)));
      return [...others, ...own.filter((row) => row !== undefined)];
    },
    set(table, key, after) {
      const user = rows.get(table, key)?.id;
      changed.set(table + key, { table, key, after });
      if (table !== 'users' || after !== undefined) return;
      for (const name of NAMES.filter((each) => TABLES[each].ofUser))
        for (const row of rows.all(name)) if (row.userId === user) rows.set(name, keyOf(name, row), undefined);
    },
  };
  const changes = (): Change[] =>
    [...changed.values()].map((each) => ({ ...each, before: stored.get(each.table, each.key) }));
  return { rows, changes };
};

const transactionOn = (line: Line, stored: Rows) => {
  const { rows, changes } = overlay(stored);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  return { line, rows, changes, calls: callsOver(rows), ended, end, isOpen: true, waitsFor: null as string | null };
};

const uniqueNames = (table: TableName, row: Row): string[] =>
  uniquesOf(TABLES[table])
    .slice(1)
    .filter(([, columns]) => columns.every((column) => row[column] !== null))
    .map(([index, columns]) => `${index}|${columns.map((column) => row[column])}`);

/** What a call locks before it is carried out. */
const locksOf = (name: keyof Calls, table: TableName, [first, second]: unknown[]): string[] => {
  if (name === 'list') return [];
  const rows = (name === 'remove' ? first : [first]) as Row[];
  const before = name === 'replace' ? uniqueNames(table, first as Row) : [];
  const after = name === 'insert' || name === 'replace' ? uniqueNames(table, (second ?? first) as Row) : [];
  const unique = after.filter((each) => !before.includes(each));
  return [...rows.map((row) => `${table}|${keyOf(table, row)}`), ...unique].sort();
};

const lockTable = () => {
  const owners = new Map<string, Transaction>();
  const isDeadlock = (by: Transaction, name: string | null): boolean => {
    const owner = owners.get(name ?? '');
    return owner === by || (owner !== undefined && isDeadlock(by, owner.waitsFor));
  };
  return {
    async acquire(by: Transaction, name: string): Promise<void> {
      for (let owner = owners.get(name); by.isOpen && owner !== by && owner; owner = owners.get(name)) {
        if (isDeadlock(by, name)) throw new ConflictError('deadlock');
        by.waitsFor = name;
        await Promise.race([owner.ended, by.ended]);
        by.waitsFor = null;
      }
      if (!by.isOpen) throw failed('the transaction was rolled back');
      owners.set(name, by);
    },
    release(by: Transaction): void {
      for (const [name, owner] of owners) if (owner === by) owners.delete(name);
      by.end();
    },
  };
};

export type SimulatedDatabase = ReturnType<typeof simulatedDatabase>;

export const simulatedDatabase = (chance: Chance) => {
  const stored = memoryRows();
  const faults = { ...NO_FAULTS };
  const transactions = openTransactions(stored);
  /** One way over the network. What is sent over a cut line is lost, and both ends notice that some time later. */
  const travel = async (line: Line): Promise<void> => {
    await kernel.sleep(chance.between(0.1, faults.latency));
    if (!line.isDead && kernel.time >= line.cutUntil) return;
    await kernel.sleep(STATEMENT_TIMEOUT);
    throw failed('the line was cut');
  };
  const toServer = async (line: Line): Promise<void> => {
    if (chance.happens(faults.failing)) throw failed('the connection broke');
    await travel(line);
    while (kernel.time < faults.frozenUntil) await kernel.sleep(faults.frozenUntil - kernel.time);
    if (kernel.time < faults.downUntil) throw failed('the database is down');
  };
  const commit = (transaction: Transaction): void => {
    const isChanged = transactions.commit(transaction);
    if (isChanged && chance.happens(faults.unanswered)) throw failed('the connection broke after the commit');
  };
  const callsOn = (line: Line, work: (perform: (by: Transaction) => Promise<unknown>) => Promise<unknown>) =>
    Object.fromEntries(
      CALLS.map((name) => [
        name,
        (...given: unknown[]) => inTime(line, () => work((by) => transactions.perform(by, name, given))),
      ]),
    ) as unknown as Calls;
  /** Calls outside of a unit: each is a transaction of its own. */
  const alone = (line: Line) =>
    callsOn(line, async (perform) => {
      await toServer(line);
      const transaction = transactions.begin(line);
      const answer = await transactions.orEnd(transaction, perform(transaction));
      commit(transaction);
      await travel(line);
      return answer;
    });
  const inside = (transaction: Transaction) =>
    callsOn(transaction.line, async (perform) => {
      await toServer(transaction.line);
      const answer = await perform(transaction);
      await travel(transaction.line);
      return answer;
    });
  const transactOn =
    (line: Line): Transact =>
    async (work) => {
      await inTime(line, () => toServer(line));
      const transaction = transactions.begin(line);
      const result = await transactions.orEnd(transaction, work(inside(transaction)));
      await inTime(line, async () => {
        await transactions.orEnd(transaction, toServer(line));
        commit(transaction);
        await travel(line);
      });
      return result;
    };
  return {
    ...{ faults, watchers: transactions.watchers, forget: transactions.forget },
    rows: (table: TableName): Row[] => stored.all(table),
    openTransactions: transactions.count,
    connect() {
      const line: Line = { isDead: false, cutUntil: 0 };
      const kill = (): void => {
        line.isDead = true;
        transactions.rollBack((each) => each.line === line);
      };
      return { line, records: recordsOver(alone(line), transactOn(line)), kill };
    },
  };
};

/** Rejects when a statement takes too long. A process that has died gets to know nothing. */
const inTime = <Result>(line: Line, work: () => Promise<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    const timer = kernel.after(STATEMENT_TIMEOUT, () => {
      if (!line.isDead) reject(failed('no answer in time'));
    });
    const settled =
      <Value>(settle: (value: Value) => void) =>
      (value: Value): void => {
        timer.call = null;
        if (!line.isDead) settle(value);
      };
    work().then(settled(resolve), settled(reject));
  });

/** Transactions at the server, and what it remembers of commits. */
const openTransactions = (stored: Rows) => {
  const locks = lockTable();
  const open = new Set<Transaction>();
  const watchers: ((changes: readonly Change[]) => void)[] = [];
  let history: { readonly at: number; readonly changes: Change[] }[] = [];
  const end = (transaction: Transaction): void => {
    transaction.isOpen = false;
    open.delete(transaction);
    locks.release(transaction);
  };
  const orEnd = <Result>(transaction: Transaction, work: Promise<Result>): Promise<Result> =>
    work.catch((error: unknown) => {
      end(transaction);
      throw error;
    });
  const rollBack = (isMeant: (transaction: Transaction) => boolean): void => {
    for (const each of [...open].filter(isMeant)) end(each);
  };
  const hasOrphan = (rows: Rows, changes: readonly Change[]): boolean =>
    changes
      .filter(({ table, after }) => TABLES[table].ofUser && after && after.userId !== null)
      .some(({ after }) => !rows.get('users', keyOf('users', { id: after?.userId })));
  return {
    ...{ watchers, orEnd, rollBack },
    count: () => open.size,
    begin(line: Line): Transaction {
      const transaction = transactionOn(line, stored);
      open.add(transaction);
      return transaction;
    },
    async perform(by: Transaction, name: keyof Calls, given: unknown[]): Promise<unknown> {
      const [table, ...rest] = given as [TableName, ...unknown[]];
      for (const lock of locksOf(name, table, rest)) await locks.acquire(by, lock);
      return (by.calls[name] as (...all: unknown[]) => Promise<unknown>)(...given);
    },
    /** @returns whether anything was changed. */
    commit(transaction: Transaction): boolean {
      if (!transaction.isOpen) throw failed('the transaction was rolled back');
      const changes = transaction.changes();
      const isRefused = hasOrphan(transaction.rows, changes);
      end(transaction);
      if (isRefused) throw failed('a row has no user');
      for (const { table, key, after } of changes) stored.set(table, key, after);
      if (changes.length === 0) return false;
      history = [...history.filter(({ at }) => at > kernel.time - REMEMBERED), { at: kernel.time, changes }];
      for (const watch of watchers) watch(changes);
      return true;
    },
    /** A fail-over loses the commits of the last milliseconds. @returns what was lost */
    forget(milliseconds: number): Change[] {
      rollBack(() => true);
      const isLost = ({ at }: { readonly at: number }) => at > kernel.time - milliseconds;
      const lost = history.filter(isLost).flatMap(({ changes }) => changes);
      history = history.filter((each) => !isLost(each));
      for (const { table, key, before } of lost.reverse()) stored.set(table, key, before);
      return lost;
    },
  };
};

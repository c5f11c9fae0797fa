import { callsOver } from '../../src/adapters/records/memory.ts';
import { keyOf, memoryRows, type Row, type Rows } from '../../src/adapters/records/memory-rows.ts';
import { ConflictError, type Records } from '../../src/adapters/records/records.ts';
import { TABLES, type TableName, uniquesOf } from '../../src/adapters/records/tables.ts';
import { type Calls, recordsOver, type Transact } from '../../src/adapters/records/units.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import type { Chance } from './chance.ts';
import { kernel, MINUTE } from './kernel.ts';

/** One database for all instances: READ COMMITTED with locks of rows, as PostgreSQL has them, and its faults. */

const NAMES = Object.keys(TABLES) as TableName[];
/** Milliseconds: some time after it the client knows that a statement has failed, which may be carried out all the same. */
const STATEMENT_TIMEOUT = 5_000;
/** What is kept of commits, to be forgotten by a fail-over. */
const REMEMBERED = MINUTE;

const failed = (reason: string) => new AppError('DB_QUERY_FAILED', { reason });
const never = () => new Promise<never>(() => undefined);

export type Change = {
  readonly table: TableName;
  readonly key: string;
  readonly before: Row | undefined;
  readonly after: Row | undefined;
};
/** The way of an instance to the database. */
export type Line = { isDead: boolean; cutUntil: number };

type Transaction = {
  readonly line: Line;
  readonly rows: Rows;
  readonly calls: Calls;
  readonly changes: () => Change[];
  readonly held: Set<string>;
  waitsFor: string | null;
  isOpen: boolean;
  /** Calls may be sent at once, and are carried out one after the other. */
  tail: Promise<unknown>;
};
type Waiting = { readonly by: Transaction; readonly resolve: () => void; readonly reject: (error: AppError) => void };

const overlay = (stored: Rows) => {
  const changed = new Map(NAMES.map((name) => [name, new Map<string, Row | undefined>()]));
  const of = (table: TableName) => changed.get(table) as Map<string, Row | undefined>;
  const rows: Rows = {
    tables: TABLES,
    get: (table, key) => (of(table).has(key) ? of(table).get(key) : stored.get(table, key)),
    all(table) {
      const kept = stored.all(table).filter((row) => !of(table).has(keyOf(table, row)));
      return [...kept, ...[...of(table).values()].filter((row) => row !== undefined)];
    },
    set(table, key, row) {
      const before = rows.get(table, key);
      of(table).set(key, row);
      if (table === 'users' && row === undefined) removeOwned(rows, before);
    },
  };
  const changes = (): Change[] =>
    NAMES.flatMap((table) =>
      [...of(table)].map(([key, after]) => ({ table, key, before: stored.get(table, key), after })),
    );
  return { rows, changes };
};

const removeOwned = (rows: Rows, user: Row | undefined): void => {
  for (const name of NAMES.filter((each) => TABLES[each].ofUser))
    for (const row of rows.all(name)) if (row.userId === user?.id) rows.set(name, keyOf(name, row), undefined);
};

const uniqueNames = (table: TableName, row: Row): string[] =>
  uniquesOf(TABLES[table])
    .slice(1)
    .filter(([, columns]) => columns.every((column) => row[column] !== null))
    .map(([index, columns]) => `${index}|${columns.map((column) => row[column])}`);

/** What a call locks before it is carried out. */
const locksOf = (name: keyof Calls, table: TableName, [first, second]: unknown[]): string[] => {
  const nameOf = (row: unknown) => `${table}|${keyOf(table, row as Row)}`;
  if (name === 'list') return [];
  if (name === 'remove') return (first as Row[]).map(nameOf);
  if (name === 'insert') return [nameOf(first), ...uniqueNames(table, first as Row)];
  if (name === 'lock') return [nameOf(first)];
  const held = uniqueNames(table, first as Row);
  return [nameOf(first), ...uniqueNames(table, second as Row).filter((each) => !held.includes(each))];
};

const lockTable = () => {
  const locks = new Map<string, { owner: Transaction; queue: Waiting[] }>();
  const isDeadlock = (by: Transaction, name: string): boolean => {
    for (let owner = locks.get(name)?.owner; owner; owner = locks.get(owner.waitsFor ?? '')?.owner)
      if (owner === by) return true;
    return false;
  };
  return {
    async acquire(by: Transaction, name: string): Promise<void> {
      const lock = locks.get(name);
      if (lock === undefined) locks.set(name, { owner: by, queue: [] });
      if (lock === undefined || by.held.has(name)) return void by.held.add(name);
      if (isDeadlock(by, name)) throw new ConflictError('deadlock');
      by.waitsFor = name;
      return new Promise((resolve, reject) => lock.queue.push({ by, resolve, reject }));
    },
    release(by: Transaction): void {
      const waited = locks.get(by.waitsFor ?? '');
      for (const each of waited?.queue.filter((waiting) => waiting.by === by) ?? []) {
        waited?.queue.splice(waited.queue.indexOf(each), 1);
        each.reject(failed('the transaction was rolled back'));
      }
      for (const name of by.held) {
        const lock = locks.get(name);
        const next = lock?.queue.shift();
        if (lock === undefined || next === undefined) locks.delete(name);
        else {
          lock.owner = next.by;
          next.by.held.add(name);
          next.by.waitsFor = null;
          next.resolve();
        }
      }
      by.held.clear();
    },
  };
};

export type SimulatedDatabase = ReturnType<typeof simulatedDatabase>;

export const simulatedDatabase = (chance: Chance) => {
  const stored = memoryRows();
  const locks = lockTable();
  const open = new Set<Transaction>();
  let history: { readonly at: number; readonly changes: Change[] }[] = [];
  const watchers: ((changes: readonly Change[]) => void)[] = [];
  /** `latency`: milliseconds at most of each way. `failing`, `unanswered`: how often statements fail, and commits get no answer. */
  const faults = { latency: 2, failing: 0, unanswered: 0, frozenUntil: 0, downUntil: 0 };
  const counts = { statements: 0, commits: 0, deadlocks: 0, unanswered: 0, forgotten: 0 };

  const begin = (line: Line): Transaction => {
    const { rows, changes } = overlay(stored);
    const state = { held: new Set<string>(), waitsFor: null, isOpen: true, tail: Promise.resolve() };
    const transaction = { line, rows, changes, calls: callsOver(rows), ...state };
    open.add(transaction);
    return transaction;
  };
  const end = (transaction: Transaction): void => {
    transaction.isOpen = false;
    open.delete(transaction);
    locks.release(transaction);
  };
  const commit = (transaction: Transaction): void => {
    if (!transaction.isOpen) throw failed('the transaction was rolled back');
    const changes = transaction.changes();
    const isOrphan = ({ table, after }: Change) =>
      after !== undefined &&
      TABLES[table].ofUser === true &&
      after.userId !== null &&
      transaction.rows.get('users', JSON.stringify([after.userId])) === undefined;
    if (changes.some(isOrphan)) {
      end(transaction);
      throw failed('a row has no user');
    }
    for (const { table, key, after } of changes) stored.set(table, key, after);
    end(transaction);
    if (changes.length === 0) return;
    counts.commits += 1;
    history = [...history.filter(({ at }) => at > kernel.time - REMEMBERED), { at: kernel.time, changes }];
    for (const watch of watchers) watch(changes);
  };

  /** One way over the network. What is sent over a cut line is lost. */
  const travel = async (line: Line): Promise<void> => {
    await kernel.sleep(chance.between(0.1, faults.latency));
    if (line.isDead || kernel.time < line.cutUntil) await never();
  };
  const atServer = async (): Promise<void> => {
    while (kernel.time < faults.frozenUntil) await kernel.sleep(faults.frozenUntil - kernel.time);
    if (kernel.time < faults.downUntil) throw failed('the database is down');
  };
  const inTime = <Result>(line: Line, work: () => Promise<Result>, onTimeout?: () => void): Promise<Result> =>
    new Promise((resolve, reject) => {
      const timer = kernel.after(STATEMENT_TIMEOUT, () => {
        onTimeout?.();
        if (!line.isDead) reject(failed('no answer in time'));
      });
      const settled = <Value>(settle: (value: Value) => void) => {
        return (value: Value): void => {
          timer.call = null;
          if (!line.isDead) settle(value);
        };
      };
      work().then(settled(resolve), settled(reject));
    });
  const mayFail = (): void => {
    if (faults.failing > 0 && chance.happens(faults.failing)) throw failed('the connection broke');
  };
  const mayGetNoAnswer = (changes: readonly Change[]): void => {
    if (changes.length === 0 || faults.unanswered === 0 || !chance.happens(faults.unanswered)) return;
    counts.unanswered += 1;
    throw failed('the connection broke after the commit');
  };

  const perform = async (by: Transaction, name: keyof Calls, given: unknown[]): Promise<unknown> => {
    await atServer();
    if (!by.isOpen) throw failed('the transaction was rolled back');
    counts.statements += 1;
    const [table, ...rest] = given as [TableName, ...unknown[]];
    for (const lock of [...new Set(locksOf(name, table, rest))].sort()) await locks.acquire(by, lock);
    if (!by.isOpen) throw failed('the transaction was rolled back');
    return (by.calls[name] as (...all: unknown[]) => Promise<unknown>)(...given);
  };
  const callsOn = (make: (name: keyof Calls, given: unknown[]) => Promise<unknown>): Calls =>
    Object.fromEntries(
      (['list', 'lock', 'insert', 'replace', 'remove'] as const).map((name) => [
        name,
        (...given: unknown[]) => make(name, given),
      ]),
    ) as unknown as Calls;

  /** A call outside of a unit: a transaction of its own. */
  const alone = (line: Line) =>
    callsOn((name, given) =>
      inTime(line, async () => {
        mayFail();
        await travel(line);
        const transaction = begin(line);
        const answer = await perform(transaction, name, given).catch((error: unknown) => {
          end(transaction);
          throw error;
        });
        const changes = transaction.changes();
        commit(transaction);
        mayGetNoAnswer(changes);
        await travel(line);
        return answer;
      }),
    );
  const inside = (line: Line, transaction: Transaction) =>
    callsOn((name, given) => {
      const carryOut = async (): Promise<unknown> => {
        mayFail();
        const former = transaction.tail;
        const { promise, resolve } = Promise.withResolvers<void>();
        transaction.tail = promise;
        await travel(line);
        await former;
        return perform(transaction, name, given).finally(resolve);
      };
      return inTime(line, carryOut, () => end(transaction));
    });
  const transactOn =
    (line: Line): Transact =>
    async (work) => {
      mayFail();
      await inTime(line, () => travel(line).then(atServer));
      const transaction = begin(line);
      const result = await work(inside(line, transaction)).catch((error: unknown) => {
        end(transaction);
        throw error;
      });
      await inTime(line, async () => {
        await travel(line);
        await atServer();
        const changes = transaction.changes();
        commit(transaction);
        mayGetNoAnswer(changes);
        await travel(line);
      });
      return result;
    };

  return {
    ...{ faults, counts, watchers },
    rows: (table: TableName): Row[] => stored.all(table),
    openTransactions: () => open.size,
    connect(): { readonly line: Line; readonly records: Records; readonly kill: () => void } {
      const line: Line = { isDead: false, cutUntil: 0 };
      const kill = (): void => {
        line.isDead = true;
        for (const each of [...open]) if (each.line === line) end(each);
      };
      return { line, records: recordsOver(alone(line), transactOn(line), { pipelines: true }), kill };
    },
    /** A fail-over loses the commits of the last milliseconds. @returns what was lost */
    forget(milliseconds: number): Change[] {
      for (const each of [...open]) end(each);
      const isLost = ({ at }: { readonly at: number }) => at > kernel.time - milliseconds;
      const lost = history
        .filter(isLost)
        .reverse()
        .flatMap(({ changes }) => changes.toReversed());
      history = history.filter((each) => !isLost(each));
      for (const { table, key, before } of lost) stored.set(table, key, before);
      counts.forgotten += lost.length;
      return lost;
    },
  };
};

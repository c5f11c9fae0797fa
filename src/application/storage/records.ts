import { AppError } from '../../domain/errors/app-error.ts';
import type { AccountEvent } from '../../domain/event.ts';
import type { SessionRepository } from '../ports/session-repository.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import type { TableName, Tables } from './tables.ts';

/** The type of the rows of each table, by its name. */
type AnyRows = Readonly<Record<string, Readonly<Record<string, string | number | boolean | object | null>>>>;

/** A row as it was read. Each change gives it another version, and so does a removal with a new insert. */
type StoredRow<Row> = Row & { readonly version: number };

type ColumnOf<Row> = keyof Row & string;

/** The values that rows must have in these columns. A query cannot ask for `null`. */
type EqualRow<Row> = { readonly [Each in ColumnOf<Row>]?: Extract<Row[Each], string | number | boolean> };

type RowQuery<Row> = {
  readonly equal?: EqualRow<Row>;
  /** Rows in which the column is `null` are in no range. */
  readonly range?: readonly [column: ColumnOf<Row>, is: '<' | '<=' | '>' | '>=', value: string | number];
  /** A hint that only rows are needed in which a column of `search` contains this text, in lower case. A store may ignore it. */
  readonly contains?: string;
  /** The columns by which rows are sorted. Default: any order. */
  readonly order?: readonly ColumnOf<Row>[];
  readonly descending?: boolean;
  /** How many of the first rows are left out. */
  readonly skip?: number;
  readonly limit?: number;
};

/** Access to tables of the application that runs the service. It has the guarantees of `Records`. */
export interface OwnRecords<All extends AnyRows = AnyRows> {
  /** @throws AppError DB_UNIQUE_VIOLATION (`violates` tells the index), DB_QUERY_FAILED when the user of the row is not stored */
  insert<Name extends keyof All & string>(table: Name, row: All[Name]): Promise<void>;
  /** A declared index has to serve the query, so that no query without `contains` searches or sorts a whole table. */
  list<Name extends keyof All & string>(table: Name, query: RowQuery<All[Name]>): Promise<StoredRow<All[Name]>[]>;
  /**
   * @param after the new row, with the same key.
   * @returns `false` if the row has changed since it was read, or is gone.
   * @throws AppError DB_UNIQUE_VIOLATION
   */
  replace<Name extends keyof All & string>(
    table: Name,
    before: StoredRow<All[Name]>,
    after: All[Name],
  ): Promise<boolean>;
  /** Removes the rows that have not changed since they were read, and returns them. */
  remove<Name extends keyof All & string>(
    table: Name,
    rows: readonly StoredRow<All[Name]>[],
  ): Promise<StoredRow<All[Name]>[]>;
  /** Reads a row by its key, and locks it until the end of the unit. Outside of a unit, and in a store that runs units one after the other, it only reads. */
  lock<Name extends keyof All & string>(table: Name, key: EqualRow<All[Name]>): Promise<StoredRow<All[Name]> | null>;
}

export type Stored<Name extends TableName> = StoredRow<Tables[Name]>;
export type Equal<Name extends TableName> = EqualRow<Tables[Name]>;
export type Query<Name extends TableName> = RowQuery<Tables[Name]>;

/**
 * What a database has to do. Rows are those of `TABLES`. Promises about concurrent calls also hold for calls of several instances over one store.
 * - lists a row as it was inserted, with every type of value
 * - distinguishes texts by letter case, by spaces at either end, and by the last character of long ones
 * - lists the rows with given values, and only those
 * - lists the rows in a range of a column, and none that has null there
 * - lists in the order of columns, either way, and orders texts by their bytes
 * - leaves out the first rows, and lists at most as many as it is asked to
 * - lists every row with a text in a column by which its table is searched, and may list others
 * - rejects a second row with the same key, or the same values of a unique index, and names the index
 * - treats rows with null in a unique index as different
 * - rejects a row whose user is not stored, and stores nothing of it
 * - accepts exactly one of many concurrent inserts with the same key
 * - accepts exactly one of two inserts by two instances
 * - replaces a row that has not changed since it was read
 * - replaces no row that has changed since it was read, or is gone
 * - treats a row that was removed and inserted again as another
 * - rejects a replacement that violates a unique index, names it, and changes nothing
 * - accepts exactly one of many concurrent replacements
 * - accepts exactly one of two replacements by two instances
 * - removes the rows that have not changed since they were read, and returns them
 * - says of each row once that it was removed, however many remove it at the same time
 * - removes with a user the rows that belong to the user
 * - returns the row that it locks, and null for none
 * - keeps all changes of a unit when the work succeeds, and returns its result
 * - keeps none when the work rejects, and rejects with the same error
 * - shows the changes of a unit to itself alone until it ends
 * - makes other units that lock the same row wait, and shows them its changes
 * - keeps all changes of a unit or rejects it, if its work catches a violation
 * - runs the work again if it makes another call after a violation
 * - rejects a unit within another, calls of a unit to the records outside of it, and calls to one that is over
 * - carries out what the work has not waited for before the unit ends
 * - accepts one of two units that insert the same values of a unique index
 * - rejects the second of two rows of a unit with the same values of a unique index
 * - loses no change to a row that a unit and a call outside of it change
 * - keeps no row of a unit whose user is removed meanwhile
 * - finds nothing by a text that cannot be stored, and rejects a row that has one
 * - is not affected by changes to a row that it was given or has returned
 * - lists what another instance over the same store has written
 * - rejects with DB_QUERY_FAILED alone when its store fails, and quotes nothing that is stored
 *
 * A call that rejected with DB_QUERY_FAILED may have changed the store, or not. A text with NUL or with a lone surrogate is one that cannot
 * be stored. `json` values may contain any text.
 *
 * @example
 * const [row] = await records.list('users', { equal: { id } });
 * if (row !== undefined && (await records.replace('users', row, { ...row, locale }))) return;
 */
export interface Records extends OwnRecords<Tables> {
  /** Whether these are the records of a unit, which carries out concurrent calls in the order in which they are made. */
  readonly isUnit?: true;
  /**
   * Runs work whose changes are kept all together, or not at all. A refused `insert` or `replace` fails the unit.
   * @param work uses only the given records, and changes nothing else, since it may run several times: after a conflict with another unit, and
   *   after a call that follows a violation. So work that finds out that another caller was first may begin again.
   * @throws what the work throws; the error of a refused call, maybe even if the work has caught it; AppError DB_QUERY_FAILED when units conflict too
   *   often, or the store fails, and maybe has kept the changes; SYS_UNEXPECTED_ERROR within another unit.
   */
  unit<Result>(work: (records: Records) => Promise<Result>): Promise<Result>;
}

/** The error of a row that equals another one in a unique index. @param index the name of the index in `TABLES`, or `keyName` of the table. */
export const violation = (index: string): AppError => new AppError('DB_UNIQUE_VIOLATION', { reason: index });

export const violates = (error: unknown, index: string): boolean =>
  error instanceof AppError && error.code === 'DB_UNIQUE_VIOLATION' && error.reason === index;

/** Functions that are called after a transaction was committed, or at once outside of transactions. */
export type Listeners = {
  /** Gets the events that were added, including those of users who are not stored: once, even if the transaction ran twice. */
  readonly onEvents?: (events: readonly AccountEvent[]) => void;
  /** Gets the events of operators when `takeOperatorEvents` takes them. If this is set, `onEvents` gets no event of an operator. */
  readonly onOperatorEvents?: (events: readonly AccountEvent[]) => void;
  /** Called when the list of ended sessions became longer. */
  readonly onEnded?: () => void;
  /** Called when there are messages to send at once. @param isForAll whether messages that wait for a poll are sent as well, since too many wait. */
  readonly onMessages?: (isForAll: boolean) => void;
  /** Called when events were added that are to be sent to webhooks. */
  readonly onDeliveries?: () => void;
};

/**
 * The stores that transactions change together. What belongs to a user is removed with the user. For concurrent calls, even of several instances, it
 * - gives what several callers use up, take or remove at the same time to one of them
 * - hands out each message, each delivery to a webhook and each event of an operator to one of several callers
 * - counts every log-in and every mail, keeps one request of an address, and purges each row once
 * - hides the sessions and devices that an end of all sessions covers, also sessions that replaced one of them, and keeps their rows
 * - carries out each end of all sessions once, also when several callers wait for it
 */
export type Stores = {
  readonly users: UserRepository;
  readonly sessions: SessionRepository;
  /** For all other tables. */
  readonly records: Records;
  /** Calls the listeners, if the storage has some: after the commit, or at once outside of transactions. */
  readonly tell: (listen: (listeners: Listeners) => void) => void;
};

export type Storage = Stores & { readonly transactions: Transactions };

/**
 * Changes several stores together, in a unit of `Records`, whose promises hold for all of them.
 * - keeps all changes when the work succeeds, and returns its result
 * - keeps none when the work rejects, and rejects with the same error
 * - shows the changes to the work, and to nobody else before it has ended
 * - runs the work again when it conflicts with another
 * - keeps all changes or rejects, when the work goes on after a store has refused a change
 * - makes other writers of a user whom it has locked or changed wait, and shows them its changes
 *
 * A store may run its transactions one after the other, which keeps the promises about concurrent transactions. Reads outside of a transaction must not see
 * its changes before its end, and writes outside of it must not be lost.
 *
 * @example
 * await transactions.run(async ({ users, records }) => {
 *   await users.add(user);
 *   await records.insert('passkeys', passkey);
 * });
 */
export interface Transactions {
  /**
   * @param work uses only the given stores, and changes nothing else, since it may run several times. It does not rotate sessions.
   * @throws as `unit` of `Records`
   */
  run<Result>(work: (stores: Stores) => Promise<Result>): Promise<Result>;
}

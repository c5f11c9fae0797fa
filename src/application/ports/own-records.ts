/** The rows of tables, by the names of the tables. */
type AnyRows = Readonly<Record<string, Readonly<Record<string, string | number | boolean | object | null>>>>;

/** A row as it was read. The version is another after each change, and that of a row which was removed and inserted again. */
export type StoredRow<Row> = Row & { readonly version: number };

type ColumnOf<Row> = keyof Row & string;

/** Values that a row has. `null` equals nothing, and cannot be asked for. */
export type EqualRow<Row> = { readonly [Each in ColumnOf<Row>]?: Extract<Row[Each], string | number | boolean> };

export type RowQuery<Row> = {
  readonly equal?: EqualRow<Row>;
  /** Rows in which the column is `null` are in no range. */
  readonly range?: readonly [column: ColumnOf<Row>, is: '<' | '<=' | '>' | '>=', value: string | number];
  /**
   * A hint: only rows are needed in which one of the columns of `search` of the table contains this text, which is in lower case. A store may
   * ignore it, and is slower then.
   */
  readonly contains?: string;
  /** By these columns, the lowest value first; without it, in any order. */
  readonly order?: readonly ColumnOf<Row>[];
  /** Turns the order round. */
  readonly descending?: boolean;
  /** How many of the first rows are left out. With a limit of 1, it tells whether there are more, and reads no others. */
  readonly skip?: number;
  readonly limit?: number;
};

/** Tables of the application that runs the service. They hold the promises of `Records`, under which the service's own are. */
export interface OwnRecords<All extends AnyRows = AnyRows> {
  /** @throws AppError DB_UNIQUE_VIOLATION (`violates` tells the index), DB_QUERY_FAILED without its user */
  insert<Name extends keyof All & string>(table: Name, row: All[Name]): Promise<void>;
  /** A declared index serves `equal`, `range` and `order` together: no query reads a whole table. */
  list<Name extends keyof All & string>(table: Name, query: RowQuery<All[Name]>): Promise<StoredRow<All[Name]>[]>;
  /**
   * @param after has the same key.
   * @returns whether the row was replaced. It was not if it has changed since it was read, or is gone.
   * @throws AppError DB_UNIQUE_VIOLATION
   */
  replace<Name extends keyof All & string>(
    table: Name,
    before: StoredRow<All[Name]>,
    after: All[Name],
  ): Promise<boolean>;
  /** Removes those of the rows that have not changed since they were read. @returns them. */
  remove<Name extends keyof All & string>(
    table: Name,
    rows: readonly StoredRow<All[Name]>[],
  ): Promise<StoredRow<All[Name]>[]>;
  /**
   * Reads a row by its key. In a unit, it is locked until the end: units that lock or replace it wait, and then see the changes, and
   * `replace` and `remove` outside of units find that it has changed. Outside of a unit, and in a store that runs units one after the other,
   * it is read only.
   */
  lock<Name extends keyof All & string>(table: Name, key: EqualRow<All[Name]>): Promise<StoredRow<All[Name]> | null>;
}

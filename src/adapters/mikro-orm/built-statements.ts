import { hash } from 'node:crypto';
import type { Compilable, CompiledQuery, QueryResult } from 'kysely';
import { type Attributes, leafSpan } from '../tracing/spans.ts';
import type { SqlDialect } from './dialects.ts';
import type { Connection, Sql } from './statements.ts';

const names = new Map<string, string>();

const nameStatement = (text: string): void => {
  names.set(text, `tandem_${hash('sha256', text).slice(0, 16)}`);
};

/** The name under which a statement is prepared; `undefined` for a text that was not named. */
export const statementName = (text: string): string | undefined => names.get(text);

/** Stands for the value at a place while a statement is built. */
class Placeholder {
  readonly at: number;

  constructor(at: number) {
    this.at = at;
  }
}

type Built = {
  readonly query: CompiledQuery<unknown>;
  readonly reads: boolean;
  readonly name: string;
  readonly attributes: Attributes;
};

/** What a statement does, and its table. */
const SUMMARY = /^(\w+).*?(?<=\b(?:from|into|update) )["`](\w+)/;

type Build<Row> = (db: Sql, placeholders: readonly unknown[]) => Compilable<Row>;

export const anyConnection = (db: Sql): Connection => ({ db, execute: (query) => db.executeQuery(query) });

export type Statements = {
  /**
   * Sends a statement, which is built once, since that costs about as much as sending it.
   * @param shape the same for statements that differ in their values alone.
   */
  readonly send: <Row>(
    connection: Connection,
    shape: string,
    values: readonly unknown[],
    build: Build<Row>,
  ) => Promise<QueryResult<Row>>;
};

/** The statements of one database. There are as many as there are ways to ask for something, of which none depends on a request. */
export const builtStatements = (system: SqlDialect['system']): Statements => {
  const built = new Map<string, Built>();
  const compiled = <Row>(db: Sql, shape: string, count: number, build: Build<Row>): Built => {
    const before = built.get(shape);
    if (before !== undefined) return before;
    const query = build(
      db,
      Array.from({ length: count }, (_, at) => new Placeholder(at)),
    ).compile();
    nameStatement(query.sql);
    const [, operation = '', table = ''] = SUMMARY.exec(query.sql) ?? [];
    const attributes = { 'db.system.name': system, 'db.operation.name': operation, 'db.collection.name': table };
    const kept = { query, reads: operation === 'select', name: `${operation} ${table}`, attributes };
    built.set(shape, kept);
    return kept;
  };
  return {
    send: <Row>({ db, execute }: Connection, shape: string, values: readonly unknown[], build: Build<Row>) => {
      const { query, reads, name, attributes } = compiled(db, shape, values.length, build);
      const parameters = query.parameters.map((each) => (each instanceof Placeholder ? values[each.at] : each));
      return leafSpan(name, attributes, () => execute({ ...query, parameters } as CompiledQuery<Row>, reads));
    },
  };
};

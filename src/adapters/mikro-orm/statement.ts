import { hash } from 'node:crypto';
import type { Compilable, CompiledQuery, Kysely, QueryResult } from 'kysely';
import type { Tables } from './rows.ts';

/** Stands for a value while a statement is built. */
class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

const names = new Map<string, string>();

/** A name for a statement that is executed again and again; `undefined` for any other text. The same text has the same name. */
export const statementName = (text: string): string | undefined => names.get(text);

/**
 * A statement that is built and compiled once, and then only gets its values: to build one costs about as much as to send it. Lists its
 * columns instead of `*`, since a prepared statement fails once its result has other columns.
 * @param build passes each of the values on as it is, since it gets placeholders for them.
 */
export const statement = <Values extends object, Row>(
  build: (db: Kysely<Tables>, values: Values) => Compilable<Row>,
): ((db: Kysely<Tables>, values: Values) => Promise<QueryResult<Row>>) => {
  const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) }) as Values;
  let kept: CompiledQuery<Row> | undefined;
  const compile = (db: Kysely<Tables>): CompiledQuery<Row> => {
    const compiled = build(db, placeholders).compile();
    kept = compiled;
    names.set(compiled.sql, `tandem_${hash('sha256', compiled.sql).slice(0, 16)}`);
    return compiled;
  };
  return (db, values) => {
    const compiled = kept ?? compile(db);
    const parameters = compiled.parameters.map((parameter) =>
      parameter instanceof Placeholder ? values[parameter.name as keyof Values] : parameter,
    );
    return db.executeQuery({ ...compiled, parameters });
  };
};

import type { Compilable, CompiledQuery, Kysely, QueryResult } from 'kysely';
import type { Tables } from './rows.ts';

/** Stands for a value while a statement is built. */
class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * A statement of PostgreSQL that is built and compiled once, when it is first executed, and then only gets its values: to build one
 * takes longer than to send it.
 * @param build passes each of the values on as it is, since it gets placeholders for them.
 */
export const statement = <Values extends object, Row>(
  build: (db: Kysely<Tables>, values: Values) => Compilable<Row>,
): ((db: Kysely<Tables>, values: Values) => Promise<QueryResult<Row>>) => {
  const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) }) as Values;
  let compiled: CompiledQuery<Row> | undefined;
  return (db, values) => {
    compiled ??= build(db, placeholders).compile();
    const parameters = compiled.parameters.map((parameter) =>
      parameter instanceof Placeholder ? values[parameter.name as keyof Values] : parameter,
    );
    return db.executeQuery({ ...compiled, parameters });
  };
};

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

/** Gives a statement a name, by its text. */
export const nameStatement = (text: string): void => {
  names.set(text, `tandem_${hash('sha256', text).slice(0, 16)}`);
};

/** The name under which a statement is prepared; `undefined` for a text that was not named. */
export const statementName = (text: string): string | undefined => names.get(text);

/**
 * A statement that is compiled once, since building a query costs about as much as sending it. Name its columns instead of `*`: a prepared
 * statement fails when its result gets other columns.
 * @param build gets placeholders, so it must pass each value on unchanged.
 */
export const statement = <Values extends object, Row>(
  build: (db: Kysely<Tables>, values: Values) => Compilable<Row>,
): ((db: Kysely<Tables>, values: Values) => Promise<QueryResult<Row>>) => {
  const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) }) as Values;
  let kept: CompiledQuery<Row> | undefined;
  const compile = (db: Kysely<Tables>): CompiledQuery<Row> => {
    const compiled = build(db, placeholders).compile();
    kept = compiled;
    nameStatement(compiled.sql);
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

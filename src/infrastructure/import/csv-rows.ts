import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { FileProblem, ROW_MAX_CHARACTERS, type Row, type RowProblem } from './row.ts';

type CsvRecord = { readonly record: readonly string[]; readonly raw: string };

/** The messages of csv-parse quote the fields. */
const PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'has a quotation mark that is not closed',
  CSV_MAX_RECORD_SIZE: `has an entry of more than ${ROW_MAX_CHARACTERS} characters`,
};

/**
 * The entries of a CSV file (RFC 4180) by the names in its first line.
 * @throws FileProblem
 */
export async function* csvRows(text: AsyncIterable<string>): AsyncGenerator<Row | RowProblem> {
  const parser = parse({
    ...{ info: true, raw: true, bom: true, skip_empty_lines: true, relax_column_count: true },
    max_record_size: ROW_MAX_CHARACTERS,
  });
  pipeline(Readable.from(text), parser, () => {});
  let [names, read]: [readonly string[] | undefined, number] = [undefined, 0];
  try {
    for await (const { record, raw } of parser as AsyncIterable<CsvRecord>) {
      const line = read + breaks(/^\s*/.exec(raw)?.[0] ?? '') + 1;
      read += breaks(raw);
      if (names === undefined) names = headerOf(record, line);
      else if (!fits(record, names.length))
        yield { line, problem: `has ${record.length} fields in place of ${names.length}` };
      else yield { line, row: Object.fromEntries(names.map((name, at) => [name, record[at]])) };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new FileProblem(read + 1, PROBLEMS[error.code] ?? 'is not CSV');
  }
}

const breaks = (text: string): number => text.match(/\r\n?|\n/g)?.length ?? 0;

const headerOf = (names: readonly string[], line: number): readonly string[] => {
  if (new Set(names).size < names.length) throw new FileProblem(line, 'names a column twice');
  return names;
};

/** One empty field more is a comma at the end of the line. */
const fits = (record: readonly string[], length: number): boolean =>
  record.length === length || (record.length === length + 1 && record.at(-1) === '');

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { invalidArguments } from '../command-error.ts';
import { type Fields, isObject } from './fields.ts';
import { jsonLinesOf, type Place } from './source.ts';

/** Matches strings, brackets and line breaks. A quotation mark alone begins a string that does not end in this text. */
const TOKEN = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"|["{}[\]\n]/g;
const MAX_DEPTH = 100;

/** Reads the objects of a JSON list one after the other; of a JSON object, those in the lists of its members `tables`. @throws for instance FileProblem */
export async function* jsonObjects(
  chunks: AsyncIterable<string>,
  tables: readonly string[],
): AsyncGenerator<Row | RowProblem> {
  const brackets: string[] = [];
  let [rest, line, key, hasList] = ['', 1, '', false];
  const isInList = () =>
    brackets.at(-1) === '[' &&
    (brackets.length === 1 || (brackets.length === 2 && brackets[0] === '{' && tables.includes(key)));
  for await (const chunk of chunks) {
    const text = rest + chunk;
    let [end, object]: [number, { at: number; line: number; depth: number } | null] = [0, null];
    for (const { 0: token, index } of text.matchAll(TOKEN)) {
      if (token === '"') break;
      if (token === '\n') line += 1;
      else if (token.startsWith('"')) key = brackets.length === 1 ? token.slice(1, -1) : key;
      else if (token === '{' || token === '[') {
        if (token === '{' && object === null && isInList()) object = { at: index, line, depth: brackets.length };
        if (brackets.push(token) > MAX_DEPTH) throw new FileProblem(line, 'has too many brackets within each other');
        hasList ||= isInList();
      } else {
        brackets.pop();
        if (object?.depth === brackets.length) {
          yield rowIn(text.slice(object.at, index + 1), object.line);
          object = null;
        }
      }
      end = index + token.length;
    }
    if (object !== null) {
      // The object has not ended. It is read again from its beginning, together with the next chunk.
      [end, line, brackets.length] = [object.at, object.line, object.depth];
    }
    rest = text.slice(end);
    if (rest.length > ROW_MAX_CHARACTERS) throw new FileProblem(line, `has more than ${ROW_MAX_CHARACTERS} characters`);
  }
  if (brackets.length > 0) throw new FileProblem(line, 'is not complete');
  if (!hasList)
    throw new FileProblem(1, `begins no list${tables.length > 0 ? `, nor an object with ${tables[0]}` : ''}`);
}

const rowIn = (json: string, line: number): Row | RowProblem => {
  try {
    const row: unknown = JSON.parse(json);
    if (isObject(row)) return { line, row };
  } catch {
    // The error is dropped, since its message quotes the text.
  }
  return { line, problem: 'is not JSON' };
};

/** The most that an entry may have, so that memory is bounded. */
const ROW_MAX_CHARACTERS = 2 ** 18;

/** Messages for errors of csv-parse, whose own messages quote the fields. */
const PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'has a quotation mark that is not closed',
  CSV_MAX_RECORD_SIZE: `has an entry of more than ${ROW_MAX_CHARACTERS} characters`,
};

/** Reads the entries of a CSV file (RFC 4180), with members named by its first line. @throws for instance FileProblem */
export async function* csvRows(text: AsyncIterable<string>): AsyncGenerator<Row | RowProblem> {
  const parser = parse({
    ...{ info: true, raw: true, bom: true, skip_empty_lines: true, relax_column_count: true },
    max_record_size: ROW_MAX_CHARACTERS,
  });
  pipeline(Readable.from(text), parser, () => {});
  let [names, read]: [readonly string[] | undefined, number] = [undefined, 0];
  try {
    for await (const { record, raw } of parser as AsyncIterable<{ record: readonly string[]; raw: string }>) {
      const line = read + countLineBreaks(/^\s*/.exec(raw)?.[0] ?? '') + 1;
      read += countLineBreaks(raw);
      if (names === undefined) {
        if (new Set(record).size < record.length) throw new FileProblem(line, 'names a column twice');
        names = record;
      } else if (!isComplete(record, names.length))
        yield { line, problem: `has ${record.length} fields in place of ${names.length}` };
      else yield { line, row: Object.fromEntries(names.map((name, at) => [name, record[at]])) };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new FileProblem(read + 1, PROBLEMS[error.code] ?? 'is not CSV');
  }
}

const countLineBreaks = (text: string): number => text.match(/\r\n?|\n/g)?.length ?? 0;

/** Whether an entry has the right number of fields. One more is allowed if it is empty: it comes from a comma at the end of the line. */
const isComplete = (record: readonly string[], length: number): boolean =>
  record.length === length || (record.length === length + 1 && record.at(-1) === '');

/** An entry of a file of another system. `line` is the number of its first line. */
export type Row = { readonly line: number; readonly row: Fields };
export type RowProblem = { readonly line: number; readonly problem: string };

/** An error after which the rest of a file is not read. `problem` is a sentence without its subject, the line: "is not CSV". */
class FileProblem extends Error {
  readonly line: number;
  readonly problem: string;

  constructor(line: number, problem: string) {
    super(problem);
    this.line = line;
    this.problem = `${problem}; the rest of the file was not read`;
  }
}

type FileRow = Place & (Pick<Row, 'row'> | Pick<RowProblem, 'problem'>);

export type Layout = {
  /** The members of a JSON document whose lists have the entries. */
  readonly tables: readonly string[];
  /** Why CSV is refused, as the `problem` of a `FileProblem`; absent if CSV is accepted. */
  readonly withoutCsv?: string;
};

/**
 * Reads the entries of a file, in their order and with bounded memory. The beginning of the file shows whether it has lines of JSON, a JSON document, or
 * CSV. Reading ends at an error after which the next entry cannot be found.
 */
export async function* entriesOf(file: string, layout: Layout): AsyncGenerator<FileRow> {
  try {
    const format = await formatOf(file, layout);
    if (format === 'lines') yield* linesOf(file);
    else {
      const rows = format === 'json' ? jsonObjects(textIn(file), layout.tables) : csvRows(textIn(file));
      for await (const row of rows) yield { file, ...row };
    }
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    yield { file, line: error.line, problem: error.problem };
  }
}

async function* linesOf(file: string): AsyncGenerator<FileRow> {
  for await (const line of jsonLinesOf(file)) {
    if ('problem' in line) yield line;
    else if (isObject(line.value)) yield { file, line: line.line, row: line.value };
    else yield { file, line: line.line, problem: 'is no JSON object' };
  }
}

const SAMPLE_BYTES = 2 ** 18;

const formatOf = async (file: string, { tables, withoutCsv }: Layout): Promise<'lines' | 'json' | 'csv'> => {
  const sample = await beginningOf(file);
  if (/^(\xff\xfe|\xfe\xff)/.test(sample.toString('latin1', 0, 2)))
    throw new FileProblem(1, 'is UTF-16: save the file as UTF-8');
  const [first = ''] = new TextDecoder().decode(sample).trimStart().split('\n', 1);
  if (first.startsWith('[')) return 'json';
  if (!first.startsWith('{')) {
    if (withoutCsv !== undefined && first.trim() !== '') throw new FileProblem(1, withoutCsv);
    return 'csv';
  }
  try {
    const object: Record<string, unknown> = JSON.parse(first);
    const hasTables = !('email' in object) && tables.some((table) => Array.isArray(object[table]));
    return hasTables ? 'json' : 'lines';
  } catch {
    return 'json';
  }
};

/** Reads the beginning of a file. @throws CommandError if it is not a regular file: a pipe cannot be read twice; Error of the operating system */
const beginningOf = async (file: string): Promise<Buffer> => {
  const handle = await open(file);
  try {
    if (!(await handle.stat()).isFile()) throw invalidArguments(`${file} has to be a file.`);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
};

/** Reads a text file. @throws FileProblem if it is not UTF-8; Error of the operating system */
async function* textIn(file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  const decode = (bytes: Uint8Array, stream: boolean): string => {
    try {
      return decoder.decode(bytes, { stream });
    } catch {
      const [valid = ''] = new TextDecoder().decode(bytes).split('\ufffd', 1);
      throw new FileProblem(line + countNewlines(valid), 'is not UTF-8');
    }
  };
  for await (const bytes of createReadStream(file) as AsyncIterable<Buffer>) {
    const text = decode(bytes, true);
    yield text;
    line += countNewlines(text);
  }
  decode(new Uint8Array(), false);
}

const countNewlines = (text: string): number => text.split('\n').length - 1;

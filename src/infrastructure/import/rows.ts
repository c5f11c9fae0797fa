import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { invalidArguments } from '../command-error.ts';
import { csvRows } from './csv-rows.ts';
import { isObject } from './fields.ts';
import { jsonObjects } from './json-objects.ts';
import { FileProblem, type Row, type RowProblem } from './row.ts';
import { jsonLinesOf, type Place } from './source.ts';

type FileRow = Place & (Pick<Row, 'row'> | Pick<RowProblem, 'problem'>);

export type Layout = {
  /** Members of a JSON document, whose lists have the entries. */
  readonly tables: readonly string[];
  /** Why CSV is refused: the end of a sentence about the file. */
  readonly withoutCsv?: string;
};

/**
 * The entries of a file in the order of its lines: lines of JSON, a JSON document or CSV, as its beginning shows. Reads with bounded memory, and
 * stops at a mistake that leaves open where the next entry begins.
 */
export async function* entriesOf(file: string, layout: Layout): AsyncGenerator<FileRow> {
  try {
    const form = await formOf(file, layout);
    if (form === 'lines') yield* linesOf(file);
    else {
      const rows = form === 'json' ? jsonObjects(textOf(file), layout.tables) : csvRows(textOf(file));
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

const formOf = async (file: string, { tables, withoutCsv }: Layout): Promise<'lines' | 'json' | 'csv'> => {
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

/** Files are read twice, so a pipe is refused. */
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

/** @throws FileProblem for what is not UTF-8 */
async function* textOf(file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  const decoded = (bytes: Uint8Array, stream: boolean): string => {
    try {
      return decoder.decode(bytes, { stream });
    } catch {
      const [valid = ''] = new TextDecoder().decode(bytes).split('\ufffd', 1);
      throw new FileProblem(line + newlines(valid), 'is not UTF-8');
    }
  };
  for await (const bytes of createReadStream(file) as AsyncIterable<Buffer>) {
    const text = decoded(bytes, true);
    yield text;
    line += newlines(text);
  }
  decoded(new Uint8Array(), false);
}

const newlines = (text: string): number => text.split('\n').length - 1;

import { createReadStream } from 'node:fs';

/** A line of a file, as the report names it. */
export type Place = { readonly file: string; readonly line: number };

export type SourceLine = Place &
  (
    | {
        /** In the form of ./line.ts, by which it is validated. */
        readonly user: unknown;
        /** What does not come over, or in another form. The user is in all the same. */
        readonly notes?: readonly string[];
      }
    /** Why the user cannot be imported, without the secrets of the line. */
    | { readonly problem: string }
    /** Why the user is not meant to be imported, such as one that was deleted there. */
    | { readonly leftOut: string }
  );

type SourceOptions = {
  readonly files: readonly string[];
  /** `--passwords`: a second file, with the password hashes. */
  readonly passwords?: string | undefined;
  /** The text of the file of `--hash-config`. */
  readonly hashConfig?: string | undefined;
};

/** Reads the export of a system, in the order of its lines and with bounded memory. @throws CommandError for options that are missing or wrong */
export type Source = (options: SourceOptions) => AsyncIterable<SourceLine>;

/** Far more than a user needs. */
const LINE_MAX_BYTES = 2 ** 18;
const NEWLINE = 0x0a;

type Json = Place & ({ readonly value: unknown } | { readonly problem: string });

/** The JSON of each line of a file. Empty lines are left out. */
export async function* jsonLinesOf(file: string): AsyncGenerator<Json> {
  let line = 0;
  for await (const bytes of linesOf(file)) {
    line += 1;
    const read = bytes === null ? { problem: `is longer than ${LINE_MAX_BYTES} bytes` } : parsed(bytes);
    if (read !== null) yield { file, line, ...read };
  }
}

const parsed = (bytes: Buffer): { readonly value: unknown } | { readonly problem: string } | null => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim();
    return text === '' ? null : { value: JSON.parse(text) };
  } catch {
    // The message of the error quotes the line.
    return { problem: 'is no JSON in UTF-8' };
  }
};

/** @returns `null` for a line that is too long. */
async function* linesOf(file: string): AsyncGenerator<Buffer | null> {
  let [parts, length]: [Buffer[], number] = [[], 0];
  const add = (part: Buffer) => {
    length += part.length;
    if (length <= LINE_MAX_BYTES) parts.push(part);
    else parts = [];
  };
  const take = () => {
    const line = length <= LINE_MAX_BYTES ? Buffer.concat(parts) : null;
    [parts, length] = [[], 0];
    return line;
  };
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, end));
      yield take();
      from = end + 1;
    }
    add(chunk.subarray(from));
  }
  if (length > 0) yield take();
}

/** Lines in the form of ./line.ts. */
export const ownLines: Source = async function* ({ files }) {
  for (const file of files)
    for await (const read of jsonLinesOf(file))
      yield 'problem' in read ? read : { file, line: read.line, user: read.value };
};

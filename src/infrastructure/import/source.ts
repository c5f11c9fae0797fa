import { createReadStream } from 'node:fs';

export type Place = { readonly file: string; readonly line: number };

export type SourceLine = Place &
  (
    | {
        /** A user in the format of ./line.ts, not validated yet. */
        readonly user: unknown;
        /** Sentences for the report, for instance about data of the user that are left out. */
        readonly notes?: readonly string[];
      }
    /** Why the line cannot be imported. It quotes no secret. */
    | { readonly problem: string }
    /** Why the user is skipped, for example because it was deleted in the other system. */
    | { readonly leftOut: string }
  );

type SourceOptions = {
  readonly files: readonly string[];
  /** The file of `--passwords`, which has the password hashes. */
  readonly passwords?: string | undefined;
  /** The text of the file of `--hash-config`. */
  readonly hashConfig?: string | undefined;
};

/** Reads the users of an export in their order, without having all in memory. @throws for instance CommandError if an option is missing or wrong */
export type Source = (options: SourceOptions) => AsyncIterable<SourceLine>;

/** The most that a line may have, so that memory is bounded. */
const LINE_MAX_BYTES = 2 ** 18;
const NEWLINE = 0x0a;

type Json = Place & ({ readonly value: unknown } | { readonly problem: string });

/** Reads the JSON of each line of a file, except empty lines. */
export async function* jsonLinesOf(file: string): AsyncGenerator<Json> {
  let line = 0;
  for await (const bytes of linesOf(file)) {
    line += 1;
    const parsed = bytes === null ? { problem: `is longer than ${LINE_MAX_BYTES} bytes` } : parseJson(bytes);
    if (parsed !== null) yield { file, line, ...parsed };
  }
}

const parseJson = (bytes: Buffer): { readonly value: unknown } | { readonly problem: string } | null => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).trim();
    return text === '' ? null : { value: JSON.parse(text) };
  } catch {
    // The error is dropped, since its message quotes the line.
    return { problem: 'is no JSON in UTF-8' };
  }
};

/** Reads the lines of a file. A line of more than `LINE_MAX_BYTES` becomes `null`. */
async function* linesOf(file: string): AsyncGenerator<Buffer | null> {
  let [rest, isTooLong]: [Buffer, boolean] = [Buffer.alloc(0), false];
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      yield isTooLong || end > LINE_MAX_BYTES ? null : rest.subarray(0, end);
      [rest, isTooLong] = [rest.subarray(end + 1), false];
    }
    isTooLong ||= rest.length > LINE_MAX_BYTES;
    if (isTooLong) rest = Buffer.alloc(0);
  }
  if (isTooLong || rest.length > 0) yield isTooLong ? null : rest;
}

/** The source without `--from`: lines in the format of ./line.ts. */
export const ownLines: Source = async function* ({ files }) {
  for (const file of files)
    for await (const entry of jsonLinesOf(file))
      yield 'problem' in entry ? entry : { file, line: entry.line, user: entry.value };
};

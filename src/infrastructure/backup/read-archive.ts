import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar';
import * as v from 'valibot';
import { Refusal } from '../refusal.ts';
import { ABOUT_NAME, About, FILES_NAME, type FileSum, Files, FORMAT } from './archive.ts';
import { chunksOf } from './file-chunks.ts';

type ArchivedFile = { readonly name: string; readonly chunks: AsyncIterable<Uint8Array> };

/** Does something with what an archive has. What of a file it does not read, is read anyway. */
export type Visitor = {
  directory?(name: string): Promise<void>;
  file(file: ArchivedFile): Promise<void>;
};

export type Contents = About & Files & { readonly bytes: number };

/** A name of the service's own or of PostgreSQL: no path that leads out of a directory. */
const NAME = /^(?:database|keys)(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}){0,8}$/;
/** Bytes of the two texts. */
const MAX_TEXT = 16 * 1024 * 1024;

/**
 * Reads a whole archive in bounded memory, and compares every file with its sum.
 * @throws Refusal when it is not a whole, unchanged backup. Until then, the visitor was given what was read so far.
 */
export const readArchive = async (source: FileHandle, visitor: Visitor, signal: AbortSignal): Promise<Contents> => {
  try {
    return await contentsOf(source, visitor, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Refusal || (error instanceof Error && 'syscall' in error)) throw error;
    throw damaged(error instanceof Error ? error.message : 'it cannot be read');
  }
};

const damaged = (problem: string): Refusal => new Refusal('not-a-backup', `This is no whole backup: ${problem}.`);

const contentsOf = async (source: FileHandle, visitor: Visitor, signal: AbortSignal): Promise<Contents> => {
  const sums = new Map<string, FileSum>();
  let about: About | undefined;
  let files: Files | undefined;
  for await (const { header, body } of entriesOf(source, signal)) {
    const name = header.name.replace(/\/$/, '');
    if (files !== undefined) throw damaged('it goes on after its end');
    if (name === FILES_NAME) {
      files = v.parse(Files, await textOf(body));
      continue;
    }
    if (sums.has(name)) throw damaged(`${name} is in it twice`);
    const counted = summed(body);
    if (about === undefined) {
      if (name !== ABOUT_NAME) throw damaged('it does not begin as one');
      about = aboutOf(await textOf(counted.chunks));
    } else await visit(visitor, { name, type: header.type, chunks: counted.chunks });
    if (header.type === 'file') sums.set(name, await counted.sum());
  }
  if (about === undefined || files === undefined) throw damaged('its end is missing');
  assertSame(sums, files);
  return { ...about, ...files, bytes: [...sums.values()].reduce((total, { size }) => total + size, 0) };
};

const entriesOf = (source: FileHandle, signal: AbortSignal): AsyncIterable<ParsedTarEntry> => {
  const unzipped = createGunzip();
  // Whoever reads gets the error.
  pipeline(Readable.from(chunksOf(source)), unzipped, { signal }).catch(() => undefined);
  const bytes: ReadableStream<Uint8Array> = ReadableStream.from(unzipped);
  return bytes.pipeThrough(createTarDecoder({ strict: true }));
};

type Visited = ArchivedFile & { readonly type: string | undefined };

const visit = async (visitor: Visitor, { name, type, chunks }: Visited): Promise<void> => {
  if (!NAME.test(name)) throw damaged('it has a file with a foreign name');
  if (type === 'directory') await visitor.directory?.(name);
  else if (type === 'file') await visitor.file({ name, chunks });
  else throw damaged(`${name} is neither a file nor a directory`);
};

const aboutOf = (text: unknown): About => {
  const about = v.parse(About, text);
  if (about.format === FORMAT) return about;
  throw new Refusal(
    'newer-version',
    `This backup was made by Tandem ${about.tandem} in a form that this version does not know.`,
  );
};

const textOf = async (chunks: AsyncIterable<Uint8Array>): Promise<unknown> => {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > MAX_TEXT) throw damaged('its list is too long');
    parts.push(chunk);
  }
  return JSON.parse(Buffer.concat(parts).toString());
};

/** Chunks that are summed as they are read. */
const summed = (body: ReadableStream<Uint8Array>) => {
  const hash = createHash('sha256');
  let size = 0;
  const all = (async function* () {
    for await (const chunk of body) {
      hash.update(chunk);
      size += chunk.length;
      yield chunk;
    }
  })();
  return {
    chunks: all,
    /** Reads what is left. */
    sum: async (): Promise<FileSum> => {
      for await (const _chunk of all);
      return { size, sha256: hash.digest('hex') };
    },
  };
};

const assertSame = (sums: ReadonlyMap<string, FileSum>, { files }: Files): void => {
  const names = Object.keys(files);
  const isSame = (name: string) =>
    sums.get(name)?.size === files[name]?.size && sums.get(name)?.sha256 === files[name]?.sha256;
  const different = names.find((name) => !isSame(name));
  if (different !== undefined) throw damaged(`${different} is not what was written`);
  if (names.length !== sums.size) throw damaged('it has more files than were written');
};

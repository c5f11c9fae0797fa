import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { createTarPacker } from 'modern-tar';
import { ABOUT_NAME, type About, FILES_NAME, type FileSum } from './archive.ts';
import { writeChunks } from './file-chunks.ts';

/** Adds to an archive, one thing after the other. */
export type ArchiveWriter = {
  directory(name: string): Promise<void>;
  /** @param size the bytes that `chunks` has, or that it is cut and filled up with zeros to. */
  file(name: string, size: number, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void>;
};

/**
 * Writes an archive to an empty file, in bounded memory.
 * @param fill adds the files. @returns when the content is of.
 */
export const writeArchive = async (
  target: FileHandle,
  about: About,
  fill: (archive: ArchiveWriter) => Promise<{ readonly endedAt: string }>,
  signal: AbortSignal,
): Promise<void> => {
  const { readable, controller } = createTarPacker();
  const sums: Record<string, FileSum> = {};
  const directory = async (name: string) =>
    controller.add({ name: `${name}/`, size: 0, type: 'directory', mode: 0o700 }).close();
  const file: ArchiveWriter['file'] = async (name, size, chunks) => {
    const body = controller.add({ name, size, mode: 0o600 }).getWriter();
    const hash = createHash('sha256');
    for await (const chunk of ofSize(size, chunks)) {
      hash.update(chunk);
      await body.write(chunk);
    }
    await body.close();
    sums[name] = { size, sha256: hash.digest('hex') };
  };
  const text = (name: string, content: object) => {
    const bytes = Buffer.from(`${JSON.stringify(content)}\n`);
    return file(name, bytes.length, [bytes]);
  };
  const filled = async () => {
    await text(ABOUT_NAME, about);
    const { endedAt } = await fill({ directory, file });
    await text(FILES_NAME, { endedAt, files: sums });
    controller.finalize();
  };
  const written = pipeline(
    Readable.fromWeb(readable),
    createGzip(),
    (chunks: AsyncIterable<Uint8Array>) => writeChunks(target, chunks),
    {
      signal,
    },
  );
  const outcomes = await Promise.allSettled([
    written,
    filled().catch((error: unknown) => {
      controller.error(error);
      throw error;
    }),
  ]);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
};

const ZEROS = new Uint8Array(65_536);

/** The file may be another size than it was: what differs is in the WAL. */
const ofSize = async function* (size: number, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
  let left = size;
  for await (const chunk of chunks) {
    if (left === 0) break;
    const part = chunk.subarray(0, left);
    left -= part.length;
    yield part;
  }
  for (; left > 0; left -= Math.min(left, ZEROS.length)) yield ZEROS.subarray(0, left);
};

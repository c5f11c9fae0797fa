import type { FileHandle } from 'node:fs/promises';

/** Bytes that are read at once. */
const CHUNK = 256 * 1024;

/** A file from its beginning. Unlike a stream of the handle, this leaves nothing that `close` would wait for. */
export const chunksOf = async function* (file: FileHandle): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK), 0, CHUNK, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
};

/** Writes at the end of what was written. */
export const writeChunks = async (file: FileHandle, chunks: AsyncIterable<Uint8Array>): Promise<void> => {
  for await (const chunk of chunks) await file.writeFile(chunk);
};

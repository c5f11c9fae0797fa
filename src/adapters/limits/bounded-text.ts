import { LoggableError } from '../log/redact-error.ts';

/** The body of a response. @throws LoggableError when it is too long. The connection ends then. */
export const boundedText = async ({ body }: Response, maxBytes: number): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new LoggableError('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

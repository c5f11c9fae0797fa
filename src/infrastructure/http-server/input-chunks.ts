import type { Readable } from 'node:stream';

/** Bytes. */
const MAX_CHUNK = 4_096;
const EMPTY: Buffer = Buffer.alloc(0);
const END_OF_HEAD = '\r\n\r\n';
const AFTER_LINE_BREAKS = /[^\r\n]|$/;
const HEAD_METHOD = 'HEAD ';

/** Splits the input of a socket into chunks for the parser. A chunk ends where the head of a request or its body ends. */
export class InputChunks {
  readonly #source: Readable;
  #buffer = EMPTY;
  /** The first characters of the head that is being read. */
  #startOfHead = '';
  /** The last characters of the previous chunk: the end of a head may begin there. */
  #tail = '';
  /** Bytes of a body that have not been read, by its Content-Length; 0 for a chunked body. */
  #bodyLeft = 0;

  constructor(source: Readable) {
    this.#source = source;
  }

  /** @param inBody whether the body of a request is being read, so that the chunk does not begin a head. */
  next(inBody: boolean): Buffer | null {
    if (this.#buffer.length === 0) this.#buffer = this.#source.read() ?? this.#buffer;
    if (this.#buffer.length === 0) return null;
    const chunk = this.#buffer.subarray(0, this.#bodyLeft > 0 ? this.#lengthInBody() : this.#lengthUpToEnd(inBody));
    this.#buffer = this.#buffer.subarray(chunk.length);
    if (!inBody && this.#startOfHead.length < HEAD_METHOD.length) this.#addToHead(chunk.toString('latin1'));
    return chunk;
  }

  discard(): void {
    this.#buffer = EMPTY;
    while (this.#source.read() !== null);
  }

  /** Called when a head has been parsed. @param bodyLength bytes, by its Content-Length; 0 without one. */
  endHead(bodyLength: number): void {
    this.#startOfHead = '';
    this.#bodyLeft = bodyLength;
  }

  /** Whether the head that is being read is known to be that of a HEAD request. */
  isHeadRequest(): boolean {
    return this.#startOfHead.startsWith(HEAD_METHOD);
  }

  #lengthInBody(): number {
    const length = Math.min(this.#bodyLeft, MAX_CHUNK, this.#buffer.length);
    this.#bodyLeft -= length;
    return length;
  }

  /** Up to the end of a head or of a chunked body, which look the same. The end may be split between two chunks. */
  #lengthUpToEnd(inBody: boolean): number {
    const text = this.#tail + this.#buffer.toString('latin1', 0, MAX_CHUNK);
    const before = this.#tail.length;
    const end = text.indexOf(END_OF_HEAD, inBody || this.#startOfHead !== '' ? 0 : text.search(AFTER_LINE_BREAKS));
    this.#tail = end < 0 ? text.slice(1 - END_OF_HEAD.length) : '';
    return (end < 0 ? text.length : end + END_OF_HEAD.length) - before;
  }

  /** A server skips empty lines before a request (RFC 9112 §2.2). */
  #addToHead(text: string): void {
    this.#startOfHead = (this.#startOfHead + text).replace(/^[\r\n]+/, '').slice(0, HEAD_METHOD.length);
  }
}

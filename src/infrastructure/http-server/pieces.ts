import type { Readable } from 'node:stream';

/** Bytes. */
const LONGEST = 4_096;
const END_OF_HEAD = '\r\n\r\n';
const HEAD_METHOD = 'HEAD ';

/** Cuts what a socket brings: no piece goes on behind the end of a request's head. */
export class Pieces {
  readonly #source: Readable;
  #held: Buffer = Buffer.alloc(0);
  /** The first characters of the head that is being read, where its beginning is known. */
  #opening = '';

  constructor(source: Readable) {
    this.#source = source;
  }

  /** @param inBody whether a request's body is being read, so that the piece does not begin a head. */
  next(inBody: boolean): Buffer | null {
    if (this.#held.length === 0) this.#held = this.#source.read() ?? this.#held;
    if (this.#held.length === 0) return null;
    const end = this.#held.subarray(0, LONGEST).indexOf(END_OF_HEAD);
    const piece = this.#held.subarray(0, end < 0 ? LONGEST : end + END_OF_HEAD.length);
    this.#held = this.#held.subarray(piece.length);
    if (!inBody && this.#opening.length < HEAD_METHOD.length) this.#open(piece.toString('latin1', 0, 16));
    return piece;
  }

  /** Throws away what is there. */
  drop(): void {
    this.#held = Buffer.alloc(0);
    while (this.#source.read() !== null);
  }

  headIsRead(): void {
    this.#opening = '';
  }

  /** Whether the head that is being read is known to be one of a HEAD request. */
  isHeadRequest(): boolean {
    return this.#opening.startsWith(HEAD_METHOD);
  }

  /** A server skips empty lines before a request (RFC 9112 §2.2). */
  #open(text: string): void {
    this.#opening = (this.#opening + text).replace(/^[\r\n]+/, '');
  }
}

import type { Readable } from 'node:stream';

/** Bytes. */
const MAX_PIECE = 4_096;
const NOTHING: Buffer = Buffer.alloc(0);
const END_OF_HEAD = '\r\n\r\n';
const BEHIND_LINE_BREAKS = /[^\r\n]|$/;
const HEAD_METHOD = 'HEAD ';

/** Splits the input of a socket: no piece continues after the end of a request's head, nor after the end of its body. */
export class Pieces {
  readonly #source: Readable;
  #held = NOTHING;
  /** The first characters of the head that is being read. */
  #opening = '';
  /** The last characters of the piece before, with which an end of a head may have begun. */
  #tail = '';
  /** Bytes of a body that are still to come, as its head says; of chunks it says nothing. */
  #bodyLeft = 0;

  constructor(source: Readable) {
    this.#source = source;
  }

  /** @param inBody whether a request's body is being read, so that the piece does not begin a head. */
  next(inBody: boolean): Buffer | null {
    if (this.#held.length === 0) this.#held = this.#source.read() ?? this.#held;
    if (this.#held.length === 0) return null;
    const piece = this.#held.subarray(0, this.#bodyLeft > 0 ? this.#pieceOfBody() : this.#pieceOfHead(inBody));
    this.#held = this.#held.subarray(piece.length);
    if (!inBody && this.#opening.length < HEAD_METHOD.length) this.#open(piece.toString('latin1'));
    return piece;
  }

  /** Discards all input. */
  drop(): void {
    this.#held = NOTHING;
    while (this.#source.read() !== null);
  }

  /** @param bodyLength in bytes, where the head tells it, or else 0. */
  headIsRead(bodyLength: number): void {
    this.#opening = '';
    this.#bodyLeft = bodyLength;
  }

  /** Whether the head that is being read is known to be one of a HEAD request. */
  isHeadRequest(): boolean {
    return this.#opening.startsWith(HEAD_METHOD);
  }

  #pieceOfBody(): number {
    const length = Math.min(this.#bodyLeft, MAX_PIECE, this.#held.length);
    this.#bodyLeft -= length;
    return length;
  }

  /** Up to the end of a head, or of chunks, which end alike. That end may lie across two pieces. */
  #pieceOfHead(inBody: boolean): number {
    const text = this.#tail + this.#held.toString('latin1', 0, MAX_PIECE);
    const before = this.#tail.length;
    const end = text.indexOf(END_OF_HEAD, inBody || this.#opening !== '' ? 0 : text.search(BEHIND_LINE_BREAKS));
    this.#tail = end < 0 ? text.slice(1 - END_OF_HEAD.length) : '';
    return (end < 0 ? text.length : end + END_OF_HEAD.length) - before;
  }

  /** A server skips empty lines before a request (RFC 9112 §2.2). */
  #open(text: string): void {
    this.#opening = (this.#opening + text).replace(/^[\r\n]+/, '').slice(0, HEAD_METHOD.length);
  }
}

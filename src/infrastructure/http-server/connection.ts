import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Requests of one connection that are worked on at the same time. The next is read when one of them is answered. */
export const MAX_UNANSWERED = 8;
/** Bytes that the parser gets at a time. */
const MAX_PIECE = 4_096;
const END_OF_HEAD = '\r\n\r\n';
/** Milliseconds that a client gets to read the last answer and to close: closed earlier, TCP may drop the answer. */
const LINGER = 1_000;

type Done = (error?: Error | null) => void;

/**
 * A client's connection as Node's HTTP server sees it: the socket, with bounds. Node starts every request that is in the 64 KB
 * which it reads at once; here its parser gets one head at a time, and none while too many requests are unanswered.
 */
export class Connection extends Duplex {
  readonly #socket: Socket;
  readonly #writeTimeout: number;
  readonly #unanswered = new Set<ServerResponse>();
  /** The request whose head was read last. */
  #latest: { readonly incoming: IncomingMessage; readonly response: ServerResponse } | null = null;
  /** What was read from the socket and is not parsed. */
  #held: Buffer = Buffer.alloc(0);
  /** The first bytes of the head that is being read, where its beginning is known. */
  #opening = '';
  #wanted = false;
  /** No further request is taken. */
  #closing = false;
  /** Nothing more is parsed. */
  #stopped = false;
  /** Everything was written. What still comes is thrown away. */
  #lingering = false;
  /** What waits for answers to be sent. */
  #afterwards: () => void = () => undefined;

  /** @param writeTimeout milliseconds within which the client has to take what is sent to it. */
  constructor(socket: Socket, writeTimeout: number) {
    // With so low a mark, no piece is asked for before the one before it is parsed.
    super({ allowHalfOpen: true, decodeStrings: false, readableHighWaterMark: 1 });
    this.#socket = socket;
    this.#writeTimeout = writeTimeout;
    // Node takes its own listeners off before it emits `connect`; an `error` without any ends the process.
    this.on('error', () => undefined);
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
    socket.on('timeout', () => this.emit('timeout'));
    socket.on('readable', () => this.#feed());
    socket.on('end', () => this.#feed());
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  /** Node's server closes idle connections by it. */
  setTimeout(milliseconds: number): this {
    this.#socket.setTimeout(milliseconds);
    return this;
  }

  /** @returns whether the request is to be answered. None is that comes behind the last one of its connection. */
  admit(incoming: IncomingMessage, response: ServerResponse): boolean {
    if (this.#closing) return false;
    this.#opening = '';
    this.#latest = { incoming, response };
    this.#unanswered.add(response);
    response.once('close', () => this.#answered(response));
    return true;
  }

  /** Makes this answer the last one. */
  closeAfter(response: ServerResponse): void {
    if (response.headersSent) return;
    response.setHeader('Connection', 'close');
    this.#closing = true;
  }

  /** Takes no further request; those that were taken are answered. */
  closeAfterAnswers(): void {
    const last = [...this.#unanswered].at(-1);
    if (last !== undefined) this.closeAfter(last);
  }

  /**
   * Closes, and says why: for bytes that are no request, or a request that does not come whole. The answers that are due go
   * first, and a request whose own answer has begun gets no second one.
   * @param textFor the whole refusal; of a HEAD request, where it is known to be one.
   */
  async refuse(textFor: (isHead: boolean) => Promise<string>): Promise<void> {
    if (this.#stopped || this.destroyed) return;
    this.#closing = true;
    this.#stopped = true;
    const broken = this.#latest?.incoming.complete === false ? this.#latest.response : null;
    const text = await textFor(broken === null ? this.#opening.startsWith('HEAD ') : broken.req.method === 'HEAD');
    this.#whenAnswered(
      [...this.#unanswered].filter((response) => response !== broken),
      () => {
        if (broken?.headersSent) this.#whenAnswered([...this.#unanswered], () => this.destroySoon());
        else if (this.writable) this.destroySoon(text);
      },
    );
  }

  /** Ends when everything is written, and gives the client a moment to read it. Node's server closes connections by it. */
  destroySoon(text?: string): void {
    this.#closing = true;
    this.#stopped = true;
    this.#lingering = true;
    this.end(text, () => {
      const late = setTimeout(() => this.destroy(), LINGER);
      this.once('close', () => clearTimeout(late));
    });
    this.#feed();
  }

  override _read(): void {
    this.#wanted = true;
    process.nextTick(() => this.#feed());
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: Done): void {
    this.#socket.write(chunk, encoding, this.#inTime(done));
  }

  override _writev(chunks: readonly { chunk: Buffer | string; encoding: BufferEncoding }[], done: Done): void {
    const inTime = this.#inTime(done);
    this.#socket.cork();
    chunks.forEach(({ chunk, encoding }, index) => {
      this.#socket.write(chunk, encoding, index === chunks.length - 1 ? inTime : undefined);
    });
    this.#socket.uncork();
  }

  override _final(done: Done): void {
    this.#socket.end(this.#inTime(done));
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#socket.destroy();
    this.#unanswered.clear();
    done(error);
  }

  #inTime(done: Done): Done {
    const late = setTimeout(() => this.destroy(), this.#writeTimeout);
    return (error) => {
      clearTimeout(late);
      done(error);
    };
  }

  #answered(response: ServerResponse): void {
    this.#unanswered.delete(response);
    this.#afterwards();
    this.#feed();
  }

  /** Does it when the last of these answers was sent. */
  #whenAnswered(due: readonly ServerResponse[], act: () => void): void {
    this.#afterwards = () => {
      if (due.some((response) => this.#unanswered.has(response))) return;
      this.#afterwards = () => undefined;
      act();
    };
    this.#afterwards();
  }

  #feed(): void {
    if (this.#lingering) while (this.#socket.read() !== null);
    if (this.#stopped || !this.#wanted || this.#unanswered.size >= MAX_UNANSWERED) return;
    if (this.#held.length === 0) this.#held = this.#socket.read() ?? this.#held;
    if (this.#held.length > 0) this.#parseNext();
    else if (this.#socket.readableEnded) this.push(null);
  }

  #parseNext(): void {
    const end = this.#held.subarray(0, MAX_PIECE).indexOf(END_OF_HEAD);
    const piece = this.#held.subarray(0, end < 0 ? MAX_PIECE : end + END_OF_HEAD.length);
    this.#held = this.#held.subarray(piece.length);
    if (this.#latest?.incoming.complete !== false && this.#opening.length < 5) {
      this.#opening = (this.#opening + piece.toString('latin1', 0, 16)).replace(/^[\r\n]+/, '');
    }
    this.#wanted = false;
    this.push(piece);
  }
}

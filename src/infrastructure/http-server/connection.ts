import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { DueAnswers } from './due-answers.ts';
import { Pieces } from './pieces.ts';

/** Requests of one connection that are worked on at the same time. The next is read when one of them is answered. */
export const MAX_UNANSWERED = 8;
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
  readonly #pieces: Pieces;
  readonly #due = new DueAnswers();
  /** The request whose head was read last. */
  #latest: { readonly incoming: IncomingMessage; readonly response: ServerResponse } | null = null;
  #wanted = false;
  /** No further request is taken. */
  #closing = false;
  /** Nothing more is parsed. */
  #stopped = false;
  /** Everything was written. What still comes is thrown away. */
  #lingering = false;

  /** @param writeTimeout milliseconds within which the client has to take what is sent to it. */
  constructor(socket: Socket, writeTimeout: number) {
    // With so low a mark, no piece is asked for before the one before it is parsed.
    super({ allowHalfOpen: true, decodeStrings: false, readableHighWaterMark: 1 });
    this.#socket = socket;
    this.#pieces = new Pieces(socket);
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
    this.#pieces.headIsRead(Number(incoming.headers['content-length'] ?? 0));
    this.#latest = { incoming, response };
    this.#due.add(response, () => this.#feed());
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
    if (this.#due.last !== undefined) this.closeAfter(this.#due.last);
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
    const broken = this.#inBody ? (this.#latest?.response ?? null) : null;
    const text = await textFor(broken === null ? this.#pieces.isHeadRequest() : broken.req.method === 'HEAD');
    this.#due.whenSent(broken, () => {
      if (broken?.headersSent) this.#due.whenSent(null, () => this.destroySoon());
      else if (this.writable) this.destroySoon(text);
    });
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
    this.#stopped = true;
    this.#socket.destroy();
    this.#due.clear();
    done(error);
  }

  #inTime(done: Done): Done {
    const late = setTimeout(() => this.destroy(), this.#writeTimeout);
    return (error) => {
      clearTimeout(late);
      done(error);
    };
  }

  /** Whether the body of a request is being read. */
  get #inBody(): boolean {
    return this.#latest?.incoming.complete === false;
  }

  #feed(): void {
    if (this.#lingering) this.#pieces.drop();
    if (this.#stopped || !this.#wanted || this.#due.count >= MAX_UNANSWERED) return;
    // What comes behind the last request would not be answered, and be kept by Node until those before it are.
    if (this.#closing && !this.#inBody) return;
    const piece = this.#pieces.next(this.#inBody);
    if (piece === null && !this.#socket.readableEnded) return;
    this.#wanted = false;
    this.push(piece);
  }
}

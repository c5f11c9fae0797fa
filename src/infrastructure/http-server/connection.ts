import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { DueAnswers } from './due-answers.ts';
import { Pieces } from './pieces.ts';

/** Requests of one connection that are processed at the same time. The next is read when one of them has its response. */
export const MAX_UNANSWERED = 8;
/** Milliseconds that a client has to read the last response and close. If the server closed earlier, TCP might drop the response. */
const LINGER = 1_000;

type Done = (error?: Error | null) => void;

/**
 * A client's connection as Node's HTTP server sees it: the socket, with limits. Node starts every request in the 64 KB that it
 * reads at once; this stream passes one head at a time to the parser, and none while too many requests have no response.
 */
export class Connection extends Duplex {
  readonly #socket: Socket;
  readonly #writeTimeout: number;
  readonly #pieces: Pieces;
  readonly #due = new DueAnswers();
  /** The request whose head was parsed last. */
  #latest: { readonly incoming: IncomingMessage; readonly response: ServerResponse } | null = null;
  #wanted = false;
  /** No further request is accepted. */
  #closing = false;
  /** Nothing more is parsed. */
  #stopped = false;
  /** Everything has been written. Further input is discarded. */
  #lingering = false;

  /** @param writeTimeout milliseconds in which the client must read what is sent to it. */
  constructor(socket: Socket, writeTimeout: number) {
    // The low mark makes Node ask for a piece only when the one before it is parsed.
    super({ allowHalfOpen: true, decodeStrings: false, readableHighWaterMark: 1 });
    this.#socket = socket;
    this.#pieces = new Pieces(socket);
    this.#writeTimeout = writeTimeout;
    // Node removes its own listeners before it emits `connect`, and an `error` without a listener ends the process.
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

  /** Node's server calls this for idle connections. */
  setTimeout(milliseconds: number): this {
    this.#socket.setTimeout(milliseconds);
    return this;
  }

  /** @returns whether the request gets a response. Requests after the last one of the connection get none. */
  admit(incoming: IncomingMessage, response: ServerResponse): boolean {
    if (this.#closing) return false;
    this.#pieces.headIsRead(Number(incoming.headers['content-length'] ?? 0));
    this.#latest = { incoming, response };
    this.#due.add(response, () => this.#feed());
    return true;
  }

  /** Makes this response the last one of the connection. */
  closeAfter(response: ServerResponse): void {
    if (response.headersSent) return;
    response.setHeader('Connection', 'close');
    this.#closing = true;
  }

  /** Accepts no further request. Those that were accepted get their responses. */
  closeAfterAnswers(): void {
    if (this.#due.last !== undefined) this.closeAfter(this.#due.last);
  }

  /**
   * Sends a refusal and closes: for input that is not a request, or a request that does not arrive completely. Pending responses
   * are sent first. A request whose response has started gets no second one.
   * @param textFor returns the whole refusal; `isHead` for a HEAD request, if it is known to be one.
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

  /** Ends when everything is written, and gives the client time to read it. Node's server calls this to close connections. */
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

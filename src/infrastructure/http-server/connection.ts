import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { InputChunks } from './input-chunks.ts';
import { PendingResponses } from './pending-responses.ts';
import { SocketStream } from './socket-stream.ts';

/** Requests of one connection that are processed at the same time. The next is read when one of them has its response. */
export const MAX_UNANSWERED = 8;
/** Milliseconds that a client has to read the last response and close. If the server closed earlier, TCP might drop the response. */
const LINGER = 1_000;

/**
 * A client's connection as Node's HTTP server sees it: the socket, with limits. Node starts every request in the 64 KB that it
 * reads at once; this stream passes one head at a time to the parser, and none while too many requests have no response.
 */
export class Connection extends SocketStream {
  readonly #chunks: InputChunks;
  readonly #pending = new PendingResponses();
  /** The request whose head was parsed last. */
  #latest: { readonly incoming: IncomingMessage; readonly response: ServerResponse } | null = null;
  /** Whether the parser waits for a chunk. */
  #isReadRequested = false;
  /** No further request is accepted. */
  #closing = false;
  /** Nothing more is parsed. */
  #stopped = false;
  /** Everything has been written. Further input is discarded. */
  #lingering = false;

  /** @param writeTimeout milliseconds in which the client must read each write. */
  constructor(socket: Socket, writeTimeout: number) {
    super(socket, writeTimeout);
    this.#chunks = new InputChunks(socket);
    socket.on('readable', () => this.#pushNext());
    socket.on('end', () => this.#pushNext());
  }

  /** @returns whether the request gets a response. Requests after the last one of the connection get none. */
  admit(incoming: IncomingMessage, response: ServerResponse): boolean {
    if (this.#closing) return false;
    this.#chunks.endHead(Number(incoming.headers['content-length'] ?? 0));
    this.#latest = { incoming, response };
    this.#pending.add(response, () => this.#pushNext());
    return true;
  }

  /** Makes this response the last one of the connection. */
  closeAfter(response: ServerResponse): void {
    if (response.headersSent) return;
    response.setHeader('Connection', 'close');
    this.#closing = true;
  }

  /** Accepts no further request. Those that were accepted get their responses. */
  closeAfterPending(): void {
    if (this.#pending.last !== undefined) this.closeAfter(this.#pending.last);
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
    const incomplete = this.#inBody ? (this.#latest?.response ?? null) : null;
    const text = await textFor(incomplete === null ? this.#chunks.isHeadRequest() : incomplete.req.method === 'HEAD');
    this.#pending.whenSent(incomplete, () => {
      if (incomplete?.headersSent) this.#pending.whenSent(null, () => this.destroySoon());
      else if (this.writable) this.destroySoon(text);
    });
  }

  /** Ends when everything is written, and gives the client time to read it. Node's server calls this to close connections. */
  destroySoon(text?: string): void {
    this.#closing = true;
    this.#stopped = true;
    this.#lingering = true;
    this.end(text, () => {
      const timer = setTimeout(() => this.destroy(), LINGER);
      this.once('close', () => clearTimeout(timer));
    });
    this.#pushNext();
  }

  override _read(): void {
    this.#isReadRequested = true;
    process.nextTick(() => this.#pushNext());
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#stopped = true;
    this.#pending.clear();
    super._destroy(error, callback);
  }

  /** Whether the body of a request is being read. */
  get #inBody(): boolean {
    return this.#latest?.incoming.complete === false;
  }

  /** Passes the next chunk to the parser, if it waits for one and may get it. */
  #pushNext(): void {
    if (this.#lingering) this.#chunks.discard();
    if (this.#stopped || !this.#isReadRequested || this.#pending.count >= MAX_UNANSWERED) return;
    // Input after the last request gets no response, and Node would keep it until the earlier responses are sent.
    if (this.#closing && !this.#inBody) return;
    const chunk = this.#chunks.next(this.#inBody);
    if (chunk === null && !this.socket.readableEnded) return;
    this.#isReadRequested = false;
    this.push(chunk);
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { ClientConnection } from '../../adapters/http/request/hang-up.ts';
import { InputChunks } from './input-chunks.ts';

/** Requests of one connection that are processed at the same time. The next one is read after a response. */
export const MAX_UNANSWERED = 8;
/** Milliseconds for the client to read the last response and close. If the server closed first, TCP could drop the response. */
const LINGER = 1_000;

type Callback = (error?: Error | null) => void;

/** A stream over a socket. Destroys both when the client does not read in time what is written to it. */
abstract class SocketStream extends Duplex {
  protected readonly socket: Socket;
  readonly #writeTimeout: number;

  /** @param writeTimeout milliseconds in which the client must read each write. */
  constructor(socket: Socket, writeTimeout: number) {
    // With the low mark, Node's HTTP server reads the next chunk only after it has parsed the previous one.
    super({ allowHalfOpen: true, decodeStrings: false, readableHighWaterMark: 1 });
    this.socket = socket;
    this.#writeTimeout = writeTimeout;
    // Node removes its own listeners before it emits `connect`, and an `error` without a listener ends the process.
    this.on('error', () => undefined);
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
    socket.on('timeout', () => this.emit('timeout'));
  }

  get remoteAddress(): string | undefined {
    return this.socket.remoteAddress;
  }

  /** Node's server calls this for idle connections. */
  setTimeout(milliseconds: number): this {
    this.socket.setTimeout(milliseconds);
    return this;
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, callback: Callback): void {
    this.socket.write(chunk, encoding, this.#inTime(callback));
  }

  override _writev(chunks: readonly { chunk: Buffer | string; encoding: BufferEncoding }[], callback: Callback): void {
    const inTime = this.#inTime(callback);
    this.socket.cork();
    chunks.forEach(({ chunk, encoding }, index) => {
      this.socket.write(chunk, encoding, index === chunks.length - 1 ? inTime : undefined);
    });
    this.socket.uncork();
  }

  override _final(callback: Callback): void {
    this.socket.end(this.#inTime(callback));
  }

  override _destroy(error: Error | null, callback: Callback): void {
    this.socket.destroy();
    callback(error);
  }

  #inTime(callback: Callback): Callback {
    const timer = setTimeout(() => this.destroy(), this.#writeTimeout);
    return (error) => {
      clearTimeout(timer);
      callback(error);
    };
  }
}

/** The responses of one connection that are not completely sent, in the order of their requests. */
class PendingResponses {
  readonly #responses = new Set<ServerResponse>();
  #onChange: () => void = () => undefined;

  get count(): number {
    return this.#responses.size;
  }

  get last(): ServerResponse | undefined {
    return [...this.#responses].at(-1);
  }

  add(response: ServerResponse, onSent: () => void): void {
    this.#responses.add(response);
    response.once('close', () => {
      this.#responses.delete(response);
      this.#onChange();
      onSent();
    });
  }

  /** Calls `callback` when all responses that are pending now have been sent, except for one. */
  whenSent(except: ServerResponse | null, callback: () => void): void {
    const awaited = [...this.#responses].filter((response) => response !== except);
    this.#onChange = () => {
      if (awaited.some((response) => this.#responses.has(response))) return;
      this.#onChange = () => undefined;
      callback();
    };
    this.#onChange();
  }

  /** Forgets all responses: nothing is sent any more. */
  clear(): void {
    this.#responses.clear();
    this.#onChange = () => undefined;
  }
}

/**
 * A client's connection, which Node's HTTP server uses as its socket. Node would start every request in the 64 KB that it reads at once.
 * This stream passes one head at a time to the parser, and none while `MAX_UNANSWERED` requests have no response.
 */
export class Connection extends SocketStream implements ClientConnection {
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

  get isEnded(): boolean {
    return this.socket.readableEnded;
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
   * Sends an error response and closes, for input that is not a request or does not arrive completely. Pending responses are sent first. A
   * request whose response has started gets no second one.
   * @param textFor returns the whole response; `isHead` for a HEAD request, if it is known to be one.
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

  /** Closes after everything is written and the client had time to read it. Node's server calls this to close connections. */
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
    if (this.#closing && !this.#inBody) {
      this.#noticeEnd();
      return;
    }
    const chunk = this.#chunks.next(this.#inBody);
    if (chunk === null && !this.socket.readableEnded) return;
    this.#isReadRequested = false;
    this.push(chunk);
  }

  /** A stream has ended only when somebody reads on at its end. */
  #noticeEnd(): void {
    if (this.socket.readableLength === 0) this.socket.read();
  }
}

import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

type Callback = (error?: Error | null) => void;

/** A stream over a socket. Destroys both when the client does not read in time what is written to it. */
export abstract class SocketStream extends Duplex {
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

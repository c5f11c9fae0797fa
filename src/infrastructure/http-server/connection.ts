import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests of one connection may wait for their responses. A further one closes the connection. */
export const MAX_PENDING = 8;
/** Milliseconds for the client to read the last response and close. If the server closed first, TCP could drop the response. */
const LINGER = 1_000;

/** The connection of a client, with its pending responses. */
export class Connection {
  readonly #socket: Socket;
  /** The responses that are not completely sent, in the order of their requests. */
  readonly #pending: ServerResponse[] = [];
  /** The response to the request whose head was parsed last. */
  #latest: ServerResponse | null = null;
  #isClosing = false;
  #isRefused = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    // Node removes its listeners before it emits `connect`, and an `error` without a listener ends the process.
    socket.on('error', () => undefined);
    // Node's server calls this after the last response. Its own method destroys the socket as soon as everything is written.
    socket.destroySoon = () => this.#end();
  }

  /** @returns whether the request gets a response. Requests after the last one of the connection get none. */
  admit(response: ServerResponse): boolean {
    if (this.#pending.length >= MAX_PENDING) {
      this.#socket.destroy();
      return false;
    }
    this.#pending.push(response);
    if (this.#isClosing) return false;
    response.once('close', () => this.#pending.splice(this.#pending.indexOf(response), 1));
    this.#latest = response;
    return true;
  }

  /** Makes this response the last one of the connection. */
  closeAfter(response: ServerResponse): void {
    if (response.headersSent) return;
    response.setHeader('Connection', 'close');
    this.#isClosing = true;
  }

  /** Accepts no further request. Pending responses are sent. */
  closeAfterPending(): void {
    const last = this.#pending.at(-1);
    if (last !== undefined) this.closeAfter(last);
  }

  /**
   * After pending responses, sends an error response to input that is not a request or does not arrive completely, and closes. A request whose
   * response has started gets no second one.
   */
  async refuse(textOfResponse: () => Promise<string>): Promise<void> {
    const incomplete = this.#latest?.req.complete === false ? this.#latest : null;
    if (this.#isRefused || (this.#isClosing && incomplete === null)) return;
    this.#isRefused = true;
    this.#isClosing = true;
    this.#socket.pause();
    const text = await textOfResponse();
    await Promise.all(this.#pending.filter((response) => response !== incomplete).map(closed));
    if (!incomplete?.headersSent) return this.#end(text);
    if (this.#pending.includes(incomplete)) await closed(incomplete);
    this.#end();
  }

  /** Closes when everything is written and the client had time to read it. Further input is discarded (RFC 9112 §9.6). */
  #end(text = ''): void {
    this.#isClosing = true;
    if (this.#socket.writableEnded || this.#socket.destroyed) return;
    // Input would reset the time-out of the client.
    this.#socket.pause().end(text);
    this.#socket.once('finish', () => {
      this.#socket.resume();
      const timer = setTimeout(() => this.#socket.destroy(), LINGER);
      this.#socket.once('close', () => clearTimeout(timer));
    });
  }
}

const closed = (response: ServerResponse): Promise<void> => new Promise((resolve) => response.once('close', resolve));

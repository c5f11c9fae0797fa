import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { systemClock } from '../../adapters/clock/system.ts';
import type { HttpHandlers } from '../../adapters/http/app.ts';
import { STATUS_CODES } from '../../adapters/http/node-http.ts';
import { headerValues } from '../../adapters/http/stages/arrival.ts';

/** How many requests of a connection may wait for their responses. One more request closes the connection. */
export const MAX_PENDING = 8;
/** Milliseconds in which the client can read the last response and close. If the server closed at once, TCP could drop the response. */
const LINGER = 1_000;

export class Connection {
  readonly #socket: Socket;
  /** The responses that are not completely sent yet, in the order of their requests. */
  readonly #pending: ServerResponse[] = [];
  #latest: ServerResponse | null = null;
  #isClosing = false;
  #isRefused = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    // Node.js removes its own listeners before it emits `connect`. An `error` without a listener would end the process.
    socket.on('error', () => undefined);
    // The server of Node.js calls this method after the last response. The original one destroys the socket as soon as all data are written.
    socket.destroySoon = () => this.#end();
  }

  /** Adds the response to a new request. @returns whether the request may be handled: not after the last one of the connection, or beyond `MAX_PENDING` */
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

  /** Closes the connection after a response, unless the headers of the response are sent already. */
  closeAfter(response: ServerResponse): void {
    if (response.headersSent) return;
    response.setHeader('Connection', 'close');
    this.#isClosing = true;
  }

  closeAfterPending(): void {
    const last = this.#pending.at(-1);
    if (last !== undefined) this.closeAfter(last);
  }

  /**
   * For input that is not handled as a request, or is incomplete: sends an error response after the pending responses, and closes. If the response to an
   * incomplete request has started, it is the last one instead. Input after the last request of the connection is not answered.
   */
  async refuse(textOfResponse: () => Promise<string>): Promise<void> {
    const incomplete = this.#latest?.req.complete === false ? this.#latest : null;
    if (this.#isRefused || (this.#isClosing && incomplete === null)) return;
    this.#isRefused = true;
    this.#isClosing = true;
    this.#socket.pause();
    const text = await textOfResponse();
    await Promise.all(this.#pending.filter((response) => response !== incomplete).map(untilClosed));
    if (!incomplete?.headersSent) return this.#end(text);
    if (this.#pending.includes(incomplete)) await untilClosed(incomplete);
    this.#end();
  }

  /** Closes when all data are written and the client had time to read them. Further input is discarded (RFC 9112 §9.6). */
  #end(text = ''): void {
    this.#isClosing = true;
    if (this.#socket.writableEnded || this.#socket.destroyed) return;
    // Paused, since further input would restart the time-out of a client that does not read.
    this.#socket.pause().end(text);
    this.#socket.once('finish', () => {
      this.#socket.resume();
      const timer = setTimeout(() => this.#socket.destroy(), LINGER);
      this.#socket.once('close', () => clearTimeout(timer));
    });
  }
}

const untilClosed = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => response.once('close', resolve));

/** The most headers of a request: one with more gets 431. */
export const MAX_HEADERS = 100;
/** An optional host and an optional port (RFC 9110 §7.2, RFC 3986 §3.2.2). */
const HOST_HEADER = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/** Checks a request that the parser of Node.js has accepted. @returns `null` for a valid request */
export const requestFault = (incoming: IncomingMessage) => {
  if (incoming.rawHeaders.length > 2 * MAX_HEADERS) return { status: 431, reason: 'too many headers' };
  // The parser of Node.js reads a request line without a version as HTTP/0.9, and accepts the version HTTP/2.0.
  const isHttp1 = ['1.0', '1.1'].includes(incoming.httpVersion);
  const reason = isHttp1 ? hostFault(incoming) : 'unsupported version of HTTP';
  return reason === null ? null : { status: 400, reason };
};

/** Why the header Host is not as RFC 9112 §3.2 requires it; `null` if it is. */
const hostFault = (incoming: IncomingMessage): string | null => {
  const hosts = headerValues(incoming, 'host');
  const [host] = hosts;
  if (hosts.length > 1) return 'more than one Host';
  if (host === undefined) return incoming.httpVersion === '1.1' ? 'no Host' : null;
  return HOST_HEADER.test(host) ? null : 'invalid Host';
};

/**
 * Whether a request must be the last one of its connection. After a request with `Upgrade`, the parser of Node.js drops the rest of what it has read. If it
 * drops the head of the next request, the body would be parsed as a request. `Transfer-Encoding` in HTTP/1.0 is faulty framing (RFC 9112 §6.1).
 */
export const mustBeLast = ({ headers, httpVersion }: IncomingMessage): boolean => {
  const chunked = headers['transfer-encoding'] !== undefined;
  return headers.upgrade !== undefined || (chunked && httpVersion === '1.0');
};

type ErrorResponse = Awaited<ReturnType<HttpHandlers['errorResponse']>>;

/** An error of the event `clientError`. An error of the parser has the input that it has read last. */
export type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

const STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

export const statusOf = ({ code = '' }: ParserError): number => STATUS[code] ?? 400;

/**
 * An error response as HTTP/1.1 text, which is written to the socket itself.
 * @param packet the input that the parser has read last. If it may have a HEAD request, the text has neither body nor length: a client would read the
 *   body of a response to HEAD as the next response.
 */
export const errorResponseText = ({ status, headers, body }: ErrorResponse, packet: Buffer | undefined): string => {
  const hasBody = !packet?.includes('HEAD ');
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `Date: ${new Date(systemClock.now()).toUTCString()}`,
    ...(hasBody ? [`Content-Length: ${Buffer.byteLength(body)}`] : []),
    'Connection: close',
    '',
    hasBody ? body : '',
  ].join('\r\n');
};

/** Sends an error response to a request that the parser of Node.js has accepted. */
export const sendErrorResponse = ({ status, headers, body }: ErrorResponse, response: ServerResponse): void => {
  for (const [name, value] of headers) response.appendHeader(name, value);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.writeHead(status).end(body);
};

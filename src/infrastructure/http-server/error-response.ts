import type { IncomingMessage, ServerResponse } from 'node:http';
import { systemClock } from '../../adapters/clock/system.ts';
import type { HttpHandlers } from '../../adapters/http/app.ts';
import { STATUS_CODES } from '../../adapters/http/node-http.ts';
import { headerValues } from '../../adapters/http/stages/arrival.ts';

/** Far below 2000, after which Node silently drops headers. */
export const MAX_HEADERS = 100;
/** An optional host and an optional port (RFC 9110 §4.2.3, RFC 3986 §3.2.2). */
const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/** Checks a request that Node's parser has accepted. @returns `null` for a valid one. */
export const requestFault = (incoming: IncomingMessage) => {
  if (incoming.rawHeaders.length > 2 * MAX_HEADERS) return { status: 431, reason: 'too many headers' };
  // Node's parser reads a request line without a version as HTTP/0.9, and accepts the version HTTP/2.0.
  const isHttp1 = ['1.0', '1.1'].includes(incoming.httpVersion);
  const reason = isHttp1 ? hostFault(incoming) : 'unsupported version of HTTP';
  return reason === null ? null : { status: 400, reason };
};

/** The Host header as RFC 9112 §3.2 requires it. */
const hostFault = (incoming: IncomingMessage): string | null => {
  const hosts = headerValues(incoming, 'host');
  const [host] = hosts;
  if (hosts.length > 1) return 'more than one Host';
  if (host === undefined) return incoming.httpVersion === '1.1' ? 'no Host' : null;
  return HOST.test(host) ? null : 'invalid Host';
};

/**
 * Whether this must be the last request of its connection, because the next one may begin at the wrong place. After a request with `Upgrade`, Node's
 * parser drops further input, and may parse a body as the next request. A chunked body in HTTP/1.0 is faulty framing (RFC 9112 §6.1).
 */
export const mustBeLast = ({ headers, httpVersion }: IncomingMessage): boolean => {
  const chunked = headers['transfer-encoding'] !== undefined;
  return headers.upgrade !== undefined || (chunked && httpVersion === '1.0');
};

type ErrorResponse = Awaited<ReturnType<HttpHandlers['errorResponse']>>;

/** An error of Node's parser or timer, with the input that the parser has read last. */
export type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

const STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

export const statusOf = ({ code = '' }: ParserError): number => STATUS[code] ?? 400;

/**
 * The response as HTTP/1.1 text, for a connection on which Node has no response object.
 * @param packet the input that the parser has read last. If it may have a HEAD request, the response has neither body nor length: the client of a
 *   HEAD would read a body as the next response.
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

/** Sends the response to a request that Node's parser has accepted. */
export const sendErrorResponse = ({ status, headers, body }: ErrorResponse, response: ServerResponse): void => {
  for (const [name, value] of headers) response.appendHeader(name, value);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.writeHead(status).end(body);
};

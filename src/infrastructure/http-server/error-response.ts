import type { IncomingMessage, ServerResponse } from 'node:http';
import { systemClock } from '../../adapters/clock/system.ts';
import type { HttpHandlers } from '../../adapters/http/app.ts';
import { STATUS_CODES } from '../../adapters/http/node-http.ts';
import { headerValues } from '../../adapters/http/stages/arrival.ts';

/** Far below 2000, after which Node silently drops headers. */
export const MAX_HEADERS = 100;
/** RFC 9110 §4.2.3, RFC 3986 §3.2.2: a host, or nothing, and perhaps a port. */
const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

export type RequestFault = { readonly status: number; readonly reason: string };

/** Checks a request that Node's parser has accepted. @returns `null` for a valid one. */
export const requestFault = (incoming: IncomingMessage): RequestFault | null => {
  if (incoming.rawHeaders.length > 2 * MAX_HEADERS) return { status: 431, reason: 'too many headers' };
  const reason = versionFault(incoming) ?? hostFault(incoming);
  return reason === null ? null : { status: 400, reason };
};

/** Node's parser takes a request line without a version for HTTP/0.9, and accepts HTTP/2.0 in the form of HTTP/1.1. */
const versionFault = ({ httpVersion }: IncomingMessage): string | null =>
  ['1.0', '1.1'].includes(httpVersion) ? null : 'unsupported version of HTTP';

/** RFC 9112 §3.2. */
const hostFault = (incoming: IncomingMessage): string | null => {
  const hosts = headerValues(incoming, 'host');
  const [host] = hosts;
  if (hosts.length > 1) return 'more than one Host';
  if (host === undefined) return incoming.httpVersion === '1.1' ? 'no Host' : null;
  return HOST.test(host) ? null : 'invalid Host';
};

/**
 * Whether this must be the last request of its connection, because the input after it cannot be trusted. After a request with `Upgrade`, Node's
 * parser drops what came with it, and may take a body for the next request. A chunked body in HTTP/1.0 is faulty framing (RFC 9112 §6.1).
 */
export const mustBeLast = ({ headers, httpVersion }: IncomingMessage): boolean => {
  const chunked = headers['transfer-encoding'] !== undefined;
  return headers.upgrade !== undefined || (chunked && httpVersion === '1.0');
};

type ErrorResponse = Awaited<ReturnType<HttpHandlers['errorResponse']>>;

/** What Node's parser or timer reports, with the input that the parser was given last. */
export type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

const STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

export const statusOf = ({ code = '' }: ParserError): number => STATUS[code] ?? 400;

/**
 * As HTTP/1.1 text, for a connection on which Node has no response object.
 * @param packet the input that the parser was given last. If a HEAD request may be in it, the response has neither body nor length: the
 *   client of a HEAD would take a body for the next response.
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

/** For a request that Node's parser accepts. */
export const sendErrorResponse = ({ status, headers, body }: ErrorResponse, response: ServerResponse): void => {
  for (const [name, value] of headers) response.appendHeader(name, value);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.writeHead(status).end(body);
};

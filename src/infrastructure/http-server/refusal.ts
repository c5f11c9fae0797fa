import { type ServerResponse, STATUS_CODES } from 'node:http';

/** A response to input that does not reach a handler. */
export type Refusal = {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
};

/** By the code of the error of Node's parser or timer. */
const STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

export const statusOf = ({ code = '' }: NodeJS.ErrnoException): number => STATUS[code] ?? 400;

/** As HTTP/1.1 text, for a connection on which Node has no response object. */
export const refusalText = ({ status, headers, body }: Refusal, isHead: boolean): string =>
  [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `Date: ${new Date().toUTCString()}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    isHead ? '' : body,
  ].join('\r\n');

/** For a request that Node's parser accepts. */
export const sendRefusal = ({ status, headers, body }: Refusal, response: ServerResponse): void => {
  for (const [name, value] of headers) response.appendHeader(name, value);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.writeHead(status).end(body);
};

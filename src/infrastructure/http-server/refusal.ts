import { type ServerResponse, STATUS_CODES } from 'node:http';

/** An answer to what no handler sees. */
export type Refusal = {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
};

/** By the code of the error that Node's parser, or its clock, gives. */
const STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

export const statusOf = ({ code = '' }: NodeJS.ErrnoException): number => STATUS[code] ?? 400;

/** As bytes of HTTP/1.1, for a connection on which Node has no answer to give. */
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

/** For a request that Node takes for one. */
export const sendRefusal = ({ status, headers, body }: Refusal, response: ServerResponse): void => {
  for (const [name, value] of headers) response.appendHeader(name, value);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.writeHead(status).end(body);
};

import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export type RawAnswer = {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** Opens a connection, which is closed at the end of the test. */
export const openSocket = (url: string): Socket => {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  // The server may reset the connection after it has responded.
  socket.on('error', () => undefined);
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
};

/** Reads everything until the other side ends the connection. */
export const readToEnd = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.once('end', () => resolve(Buffer.concat(chunks).toString()));
    socket.once('close', () => resolve(Buffer.concat(chunks).toString()));
  });

/**
 * Sends bytes, and reads until the server ends the connection. A request needs `Connection: close` if the server would keep it open.
 * @param options.endAfter whether to end the sending side afterwards
 */
export const exchangeRaw = async (
  url: string,
  bytes: string | Buffer,
  options: { readonly endAfter?: boolean } = {},
): Promise<RawAnswer> => parseAnswer(await exchangeText(url, bytes, options));

/** Does what `exchangeRaw` does, but returns the text unparsed, so that the bytes may contain several requests. */
export const exchangeText = (url: string, bytes: string | Buffer, { endAfter = false } = {}): Promise<string> => {
  const socket = openSocket(url);
  if (endAfter) socket.end(bytes);
  else socket.write(bytes);
  return readToEnd(socket);
};

export const parseAnswer = (text: string): RawAnswer => {
  const [head = '', body = ''] = text.split(/\r\n\r\n(.*)/s);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { status: Number(statusLine.split(' ')[1]), headers, body };
};

/**
 * Parses consecutive responses that each have a Content-Length, and leaves out interim responses (RFC 9110 §15.2).
 * @param method the method of the first request. A response to HEAD has a length but no body (RFC 9110 §9.3.2).
 */
export const parseAnswers = (text: string, method = 'GET'): RawAnswer[] => {
  if (text === '') return [];
  const first = parseAnswer(text);
  if (first.status < 200) return parseAnswers(first.body, method);
  const length = method === 'HEAD' ? 0 : Number(first.headers['content-length'] ?? 0);
  return [{ ...first, body: first.body.slice(0, length) }, ...parseAnswers(first.body.slice(length))];
};

/** The head of a request, with the empty line that ends it. */
export const head = (requestLine: string, headers: Readonly<Record<string, string>> = {}): string =>
  [
    `${requestLine} HTTP/1.1`,
    ...Object.entries({ Host: 'test', ...headers }).map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ].join('\r\n');

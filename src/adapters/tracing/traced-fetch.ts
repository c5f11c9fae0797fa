import { LoggableError } from '../log/redact-error.ts';
import { span, traceHeaders } from './spans.ts';

/** Records the span of a request to another program. Of the URL, the span has only host and port, since path and query may have secrets. */
export const requestSpan = <Answer extends { readonly status: number }>(
  address: string,
  method: string,
  send: () => Promise<Answer>,
): Promise<Answer> => {
  const { hostname, port, protocol } = new URL(address);
  const attributes = {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'http:' ? 80 : 443),
  };
  return span(method, attributes, async (set) => {
    const answer = await send();
    const { status } = answer;
    set({ 'http.response.status_code': status, ...(status >= 400 && { 'error.type': String(status) }) });
    return answer;
  });
};

/** `fetch` that records a span, and adds `traceHeaders`. */
export const tracedFetch = (
  address: string,
  { headers, ...init }: RequestInit & { readonly headers: Readonly<Record<string, string>> },
): Promise<Response> =>
  requestSpan(address, init.method ?? 'GET', () =>
    fetch(address, { ...init, headers: { ...headers, ...traceHeaders() } }),
  );

/** Reads the body of a response. If the body is longer than `maxBytes`, closes the connection. @throws Error for instance if the body is too long */
export const boundedText = async ({ body }: Response, maxBytes: number): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new LoggableError('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

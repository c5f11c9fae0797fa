import { span, traceHeaders } from './spans.ts';

type Sent = Omit<RequestInit, 'headers'> & { readonly headers: Readonly<Record<string, string>> };

/** `fetch` with a span, and with `traceparent`. Of the address, the span has the host alone: path and query may have secrets. */
export const tracedFetch = (address: string, { headers, ...sent }: Sent): Promise<Response> => {
  const { hostname, port, protocol } = new URL(address);
  const method = sent.method ?? 'GET';
  const attributes = {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'http:' ? 80 : 443),
  };
  return span(method, attributes, async (set) => {
    const response = await fetch(address, { ...sent, headers: { ...headers, ...traceHeaders() } });
    const { status } = response;
    set({ 'http.response.status_code': status, ...(status >= 400 && { 'error.type': String(status) }) });
    return response;
  });
};

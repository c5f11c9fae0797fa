import { type IncomingMessage, type OutgoingHttpHeaders, request, type ServerResponse } from 'node:http';

type Instead = {
  readonly headers?: OutgoingHttpHeaders;
  readonly answer?: (response: IncomingMessage, outgoing: ServerResponse) => unknown;
};

/** Forwards a request to the URL `to` as a proxy does. `answer` handles the response; by default it is sent back to the client. */
export const forward = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  to: URL,
  { headers = incoming.headers, answer = relay }: Instead = {},
): void => {
  const forwarded = request(to, { method: incoming.method, headers }, (response) => answer(response, outgoing));
  incoming.pipe(forwarded.on('error', () => outgoing.destroy()));
};

export const relay = (response: IncomingMessage, outgoing: ServerResponse): void => {
  response.pipe(outgoing.writeHead(response.statusCode ?? 502, response.headers));
};

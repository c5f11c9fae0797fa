import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { forward } from '../forward.ts';
import { listenOnLoopback } from '../listen.ts';
import { assertDocumented } from './documented-http.ts';

/** A proxy for programs, such as curl, that call a service. It records which answers match docs/openapi.json and which do not. */
export const documentedProxy = async (service: string) => {
  const documented: string[] = [];
  const deviations: string[] = [];
  const note = (
    { method = '', url = '' }: IncomingMessage,
    { statusCode = 0, headers }: IncomingMessage,
    body: string,
  ) => {
    try {
      assertDocumented(method, url, { status: statusCode, headers, body });
      documented.push(`${method} ${url} ${statusCode}`);
    } catch (error) {
      deviations.push(String(error));
    }
  };
  const server = createServer((incoming, outgoing) => {
    const answer = async (response: IncomingMessage) => {
      const body = await text(response);
      note(incoming, response, body);
      outgoing.writeHead(response.statusCode ?? 502, response.headers).end(body);
    };
    forward(incoming, outgoing, new URL(incoming.url ?? '/', service), { answer });
  });
  const { port, close } = await listenOnLoopback(server);
  return { url: `http://localhost:${port}`, documented, deviations, close };
};

import { createServer, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenOnLoopback } from '../listen.ts';
import { assertDocumented } from './documented-http.ts';

/** A proxy for programs, such as curl, that call a service in another process. It notes which answers are as docs/openapi.json says. */
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
    const { method, url = '/', headers } = incoming;
    const forwarded = request(new URL(url, service), { method, headers }, async (answer) => {
      const body = await text(answer);
      note(incoming, answer, body);
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers).end(body);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  const { port, close } = await listenOnLoopback(server);
  return { url: `http://localhost:${port}`, documented, deviations, close };
};

import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { listenOnLoopback } from '../support/listen.ts';

export type Asked = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};
export type Answered = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };
export type Forward = (asked: Asked) => Promise<Answered>;
/** What a wrong server does with a request, given one that does it right. */
export type Behavior = (asked: Asked, forward: Forward) => Promise<Answered>;

const read = async (message: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

const OF_THE_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding', 'content-length'];

/** The header fields that have a value and do not belong to the connection. */
const endToEnd = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => value !== undefined && !OF_THE_CONNECTION.includes(name)),
  );

const forwarder =
  (target: string, agent: Agent): Forward =>
  ({ method, path, headers, body }) =>
    new Promise((resolve, reject) => {
      const length = body === '' ? {} : { 'content-length': Buffer.byteLength(body) };
      const options = { agent, method, path, headers: { ...endToEnd(headers), ...length } };
      const outgoing = request(target, options, async (incoming) =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: await read(incoming) }),
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });

/**
 * A server in front of the service that behaves wrongly.
 * @returns its address, and `close`, which throws when the behavior itself has thrown.
 */
export const startFaultyServer = async (target: string, behavior: Behavior) => {
  const failures: unknown[] = [];
  const agent = new Agent();
  const forward = forwarder(target, agent);
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers } = incoming;
    const {
      status,
      headers: fields,
      body,
    } = await behavior({ method, path, headers, body: await read(incoming) }, forward);
    const length = method === 'HEAD' || status === 204 ? {} : { 'content-length': Buffer.byteLength(body) };
    response.writeHead(status, { ...endToEnd(fields), ...length }).end(body);
  };
  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => {
      failures.push(error);
      response.destroy();
    });
  });
  const { url, close } = await listenOnLoopback(server);
  return {
    url,
    close: async (): Promise<void> => {
      await close();
      agent.destroy();
      if (failures.length > 0) throw new AggregateError(failures, 'the faulty server failed');
    },
  };
};

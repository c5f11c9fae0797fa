import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import type { GeneratedRequest } from './requests.ts';

export type Exchanged = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** A client that keeps its connections, at most `connections` of them. */
export const keepAliveClient = (url: string, connections: number) => {
  const { hostname, port } = new URL(url);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });

  const attempt = ({ method, path, headers, body }: GeneratedRequest) =>
    new Promise<Exchanged | 'connection lost'>((resolve, reject) => {
      const outgoing = request({
        agent,
        host: hostname,
        port,
        method,
        path,
        headers: { ...headers, ...lengthOf(body) },
      });
      outgoing.on('error', (error) => (outgoing.reusedSocket ? resolve('connection lost') : reject(error)));
      outgoing.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      });
      outgoing.end(body);
    });

  return {
    /** Sends one request, again when the server has just closed the kept connection. */
    send: async (given: GeneratedRequest): Promise<Exchanged> => {
      for (;;) {
        const answer = await attempt(given);
        if (answer !== 'connection lost') return answer;
      }
    },
    close: () => agent.destroy(),
  };
};

const lengthOf = (body: Uint8Array) => (body.length === 0 ? {} : { 'content-length': body.length });

import { createPublicKey, verify } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { listenOnLoopback } from './listen.ts';

export type Received = {
  readonly headers: Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> &
    IncomingHttpHeaders;
  readonly body: string;
  readonly json: { type: string; timestamp: string; sequence: number; data: Record<string, string> };
};

/** Opens a receiver of webhooks on the loopback address until the end of the test. @param answer answers requests, by default with 204 */
export const openReceiver = async (
  answer: RequestListener = (_request, response) => response.writeHead(204).end(),
  host = '127.0.0.1',
) => {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    received.push({ headers: request.headers as Received['headers'], body, json: JSON.parse(body) });
    answer(request, response);
  });
  const { port, url } = await listenOnLoopback(server, 0, host);
  return { received, port, url: `${url}/hooks` };
};

/** The public keys (`whpk_…`) that have signed a request, as a receiver checks it. */
export const signersOf = ({ headers, body }: Received, publicKeys: readonly string[]): string[] => {
  const signed = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`);
  const signatures = headers['webhook-signature'].split(' ').filter((each) => each.startsWith('v1a,'));
  return publicKeys.filter((text) => {
    const x = Buffer.from(text.slice('whpk_'.length), 'base64').toString('base64url');
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return signatures.some((each) => verify(null, signed, key, Buffer.from(each.slice('v1a,'.length), 'base64')));
  });
};

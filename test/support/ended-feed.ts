import { createPublicKey } from 'node:crypto';
import { createServer } from 'node:http';
import { calculateJwkThumbprint, exportJWK, type JWTHeaderParameters, SignJWT } from 'jose';
import { testKeyPair } from './keys.ts';
import { listenOnLoopback } from './listen.ts';

export const secondsNow = (): number => Math.floor(Date.now() / 1000);
/** Seconds since the epoch: the time at which this module was loaded, perhaps minutes ago. The `iat` of lists has to be later. */
export const NOW = secondsNow();
const EMPTY = { aud: 'ended-sessions', lifetime: 900, sessions: [], users: [] };

type More = { readonly header?: object; readonly keys?: ReturnType<typeof testKeyPair>; readonly status?: number };

/** A server with only a key set and a list of ended sessions, which the test writes. It stops at the end of the test. */
export const startFeed = async (keys = testKeyPair(), port = 0) => {
  const jwk = await exportJWK(createPublicKey(keys.privateKey));
  const kid = await calculateJwkThumbprint(jwk);
  /** The header `If-None-Match` of each request. */
  const asked: string[] = [];
  const waiting = new Set<() => void>();
  let [list, etag, status] = ['', '', 200];

  const publish = async (claims: object = {}, more: More = {}): Promise<void> => {
    const header = { alg: 'ES256', kid, typ: 'ended-sessions+jwt', ...more.header } as JWTHeaderParameters;
    list = await new SignJWT({ ...EMPTY, iat: secondsNow(), ...claims })
      .setProtectedHeader(header)
      .sign((more.keys ?? keys).privateKey);
    status = more.status ?? 200;
    etag = `W/"${asked.length}-${list.slice(-9)}"`;
    for (const wake of waiting) wake();
    waiting.clear();
  };
  await publish();

  const server = createServer(async ({ url = '', headers }, response) => {
    if (url === '/.well-known/jwks.json')
      return response.end(JSON.stringify({ keys: [{ ...jwk, kid, alg: 'ES256' }] }));
    asked.push(headers['if-none-match'] ?? '');
    if (!url.startsWith('/.well-known/ended-sessions?wait=')) return response.writeHead(404).end();
    if (headers['if-none-match'] === etag) await new Promise<void>((resolve) => waiting.add(resolve));
    return response.writeHead(status, { ETag: etag, 'Content-Type': 'application/jwt' }).end(list);
  });
  const { url, port: bound, close: stop } = await listenOnLoopback(server, port);
  return { url, port: bound, asked, waiting, publish, stop };
};

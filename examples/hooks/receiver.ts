import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import type { RegistrationAnswer, RegistrationRequest } from 'tandem';

const MAX_BYTES = 65_536;
const MAX_AGE_SECONDS = 60;

type Decide = (registration: RegistrationRequest) => RegistrationAnswer | Promise<RegistrationAnswer>;

/**
 * A server for HOOK_BEFORE_REGISTER. It answers 401 to what Tandem has not sent in the last minute, or has sent before.
 * @param publicKeys as `npx tandem keys hook` shows them: one of each key that Tandem signs with
 */
export const createReceiver = (publicKeys: readonly string[], decide: Decide): Server => {
  const isGenuine = checkOf(publicKeys.map(publicKeyOf));
  const answerTo = async (request: IncomingMessage): Promise<[status: number, body?: RegistrationAnswer]> => {
    const body = await bodyOf(request);
    if (!isGenuine(request.headers, body)) return [401];
    const { type, data } = JSON.parse(body.toString());
    return type === 'registration.requested' ? [200, await decide(data)] : [400];
  };
  return createServer({ requestTimeout: 5_000, headersTimeout: 5_000 }, (request, response) => {
    answerTo(request)
      .catch((): [status: number, body?: RegistrationAnswer] => [500])
      .then(([status, body]) => {
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
      });
  });
};

const publicKeyOf = (text: string): KeyObject => {
  const x = Buffer.from(text.replace(/^whpk_/, ''), 'base64').toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
};

/** The check of Standard Webhooks: the signature, then the time, then the id. Only a signed id is remembered, so strangers fill no memory. */
const checkOf = (keys: readonly KeyObject[]) => {
  const seen = new Map<string, number>();
  return (headers: IncomingHttpHeaders, body: Buffer): boolean => {
    const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => `${headers[`webhook-${name}`]}`);
    const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
    const given = (signatures ?? '').split(' ', 5).filter((signature) => signature.startsWith('v1a,'));
    const isSigned = given.some((signature) => {
      const bytes = Buffer.from(signature.slice('v1a,'.length), 'base64');
      return keys.some((key) => verify(null, signed, key, bytes));
    });
    const now = Date.now() / 1_000;
    if (!isSigned || id === undefined || !(Math.abs(now - Number(timestamp)) <= MAX_AGE_SECONDS)) return false;
    // A request may be as far ahead of this clock as it may be behind.
    for (const [old, at] of seen) {
      if (at >= now - 2 * MAX_AGE_SECONDS) break;
      seen.delete(old);
    }
    if (seen.has(id)) return false;
    seen.set(id, now);
    return true;
  };
};

/** @throws Error when there is more than a registration has. The connection ends then. */
const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error('too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

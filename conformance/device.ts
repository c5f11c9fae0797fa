import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';

/** A proof for a POST request to this path (RFC 9449, section 4.2), another one each time. */
type Prove = (path: string) => string;

export type Device = { readonly proof: Prove; readonly proofOfAnotherKey: Prove };

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const proverFor = (url: URL, ahead: number): Prove => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const header = encoded({ typ: 'dpop+jwt', alg: 'ES256', jwk: { kty: 'EC', crv: 'P-256', x, y } });
  return (path) => {
    const htu = `${url.origin}${url.pathname.replace(/\/$/, '')}${path}`;
    const iat = Math.floor((Date.now() + ahead) / 1000);
    const signed = `${header}.${encoded({ htm: 'POST', htu, iat, jti: randomUUID() })}`;
    const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  };
};

/** @param ahead Milliseconds by which the clock of the instance is ahead. */
export const newDevice = (url: URL, ahead: number): Device => ({
  proof: proverFor(url, ahead),
  proofOfAnotherKey: proverFor(url, ahead),
});

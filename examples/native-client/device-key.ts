import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, randomUUID, sign } from 'node:crypto';

/**
 * The key of this device: ECDSA on P-256. Here its private part is a text in a file. In an app, make it in the key store of the system, which
 * signs and never gives it away: Secure Enclave, Android Keystore, a TPM.
 */
export const makeDeviceKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/**
 * A proof that a request comes from this device: a JWT as in RFC 9449 §4.2. It is good for one request, and for a minute.
 * @param url the address of the request, as the service knows it by its `BASE_URL`.
 * @param now epoch milliseconds, by the clock of the service.
 * @param use a request with an access token that is bound to the key.
 */
export const proofOf = (key: string, url: string, now: number, use?: { method: string; token: string }): string => {
  const privateKey = createPrivateKey(key);
  const { kty, crv, x, y } = createPublicKey(privateKey).export({ format: 'jwk' });
  const header = { typ: 'dpop+jwt', alg: 'ES256', jwk: { kty, crv, x, y } };
  const claims = {
    ...{ htm: use?.method ?? 'POST', htu: url.replace(/[?#].*/, ''), iat: Math.floor(now / 1000), jti: randomUUID() },
    ...(use && { ath: hash('sha256', use.token, 'base64url') }),
  };
  const signed = `${encoded(header)}.${encoded(claims)}`;
  // JWS has the two numbers of a signature side by side (RFC 7518 §3.4), not the DER that libraries give by default.
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
};

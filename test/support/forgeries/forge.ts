import { createHmac, type KeyObject, sign } from 'node:crypto';

/** Makes the signature for the first two parts of a token. */
export type Signer = (input: Buffer) => Buffer;
export type Json = Readonly<Record<string, unknown>>;

/** Encodes a string, or the JSON of any other value, in base64url. */
export const encoded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

export const partsOf = (token: string): [header: string, payload: string, signature: string] => {
  const [header = '', payload = '', signature = ''] = token.split('.');
  return [header, payload, signature];
};

/** Builds a compact JWS (RFC 7515 §7.1) with any header and payload. */
export const compact = (header: unknown, payload: unknown, signer: Signer): string => {
  const input = `${encoded(header)}.${encoded(payload)}`;
  return `${input}.${signer(Buffer.from(input)).toString('base64url')}`;
};

/** Signs with ECDSA in the format of RFC 7518 §3.4. */
export const ecdsa =
  (key: KeyObject, hash = 'sha256'): Signer =>
  (input) =>
    sign(hash, input, { key, dsaEncoding: 'ieee-p1363' });

export const hmac =
  (secret: string | Buffer, hash = 'sha256'): Signer =>
  (input) =>
    createHmac(hash, secret).update(input).digest();

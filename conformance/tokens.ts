import { createPublicKey } from 'node:crypto';
import { CompactSign, compactVerify, generateKeyPair, importJWK, type JWK } from 'jose';
import { hold, isObject } from './expectations.ts';

type Json = Readonly<Record<string, unknown>>;
export type OpenedToken = { readonly header: Json; readonly claims: Json };

const decoded = (part: string): unknown => {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString());
  } catch {
    return undefined;
  }
};
const encoded = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Header and claims of a compact JWS, unverified. */
export const openToken = (token: string, what: string): OpenedToken => {
  const parts = token.split('.');
  const [header, claims] = parts.map(decoded);
  hold(parts.length === 3 && isObject(header) && isObject(claims), `${what} as a JWT`, 'something else');
  return { header, claims };
};

/** The same token with another first character of its signature. */
export const tampered = (token: string): string => {
  const at = token.lastIndexOf('.') + 1;
  return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
};

/** The same header and signature over changed claims. */
export const withOtherClaims = (token: string): string => {
  const [header, , signature] = token.split('.');
  const { claims } = openToken(token, 'the token');
  return `${header}.${encoded({ ...claims, exp: Number(claims.exp) + 86_400 })}.${signature}`;
};

/** The same claims without a signature: RFC 7515, appendix A.5. */
export const unsigned = (token: string): string => {
  const { header, claims } = openToken(token, 'the token');
  return `${encoded({ ...header, alg: 'none' })}.${encoded(claims)}.`;
};

/** The same header and claims, signed with a key that was made up. */
export const signedByOthers = async (token: string): Promise<string> => {
  const { privateKey } = await generateKeyPair('ES256');
  const { header, claims } = openToken(token, 'the token');
  const content = new TextEncoder().encode(JSON.stringify(claims));
  return new CompactSign(content).setProtectedHeader({ ...header, alg: 'ES256' }).sign(privateKey);
};

/**
 * The same claims, signed with HS256 and the public key as the secret, in PEM with and without its last line break. A server that leaves
 * the algorithm to the header of the token verifies that with the key it has: RFC 8725, section 2.1.
 */
export const signedWithPublicKey = async (token: string, key: JWK): Promise<readonly string[]> => {
  const { header, claims } = openToken(token, 'the token');
  const content = new TextEncoder().encode(JSON.stringify(claims));
  const pem = createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString();
  return Promise.all(
    [pem, pem.trimEnd()].map((secret) =>
      new CompactSign(content).setProtectedHeader({ ...header, alg: 'HS256' }).sign(new TextEncoder().encode(secret)),
    ),
  );
};

/** Of a JWK Set, the keys that verify this token with ES256. */
export const keysThatVerify = async (keys: readonly JWK[], token: string): Promise<JWK[]> => {
  const results = await Promise.all(
    keys.map(async (jwk) => {
      try {
        await compactVerify(token, await importJWK(jwk, 'ES256'), { algorithms: ['ES256'] });
        return [jwk];
      } catch {
        return [];
      }
    }),
  );
  return results.flat();
};

import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import * as v from 'valibot';

/** RFC 7518 §3.4: SHA-256, and a signature of r and s, 32 bytes each. */
export const [DIGEST, SIGNATURE_FORM] = ['sha256', 'ieee-p1363'] as const;

/** The canonical form, with 64 bytes of signature. Decoders also accept white space and other unused bits, so one JWS could have several texts. */
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/;

/** @param max the longest text, in characters, that is examined at all. */
export const jwsProblem = (text: string, max: number): 'too_long' | 'malformed' | null => {
  if (text.length > max) return 'too_long';
  return COMPACT_JWS.test(text) ? null : 'malformed';
};

type JsonObject = { readonly [member: string]: unknown };

export const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** @returns `null` for a text that is not a JSON object. */
export const decoded = (text: string): JsonObject | null => {
  try {
    const value = JSON.parse(Buffer.from(text, 'base64url').toString());
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
};

/** @returns `null` also for JSON that `JSON.stringify` would write differently, such as an object with a duplicate member. */
export const decodedStrictly = (text: string): JsonObject | null => {
  const value = decoded(text);
  return value !== null && encoded(value) === text ? value : null;
};

/** Verifies the signature of a compact JWS. @param text has passed `jwsProblem` */
export const isSignedBy = (text: string, key: KeyObject): boolean => {
  const end = text.lastIndexOf('.');
  const [signed, signature] = [Buffer.from(text.slice(0, end)), Buffer.from(text.slice(end + 1), 'base64url')];
  return verify(DIGEST, signed, { key, dsaEncoding: SIGNATURE_FORM }, signature);
};

/** A coordinate of P-256: 32 bytes of base64url, in canonical form (RFC 7518 §6.2.1.2). */
const Coordinate = v.pipe(v.string(), v.regex(/^[\w-]{42}[AEIMQUYcgkosw048]$/));

export const P256 = { kty: v.literal('EC'), crv: v.literal('P-256'), x: Coordinate, y: Coordinate };

/** @returns `null` when it is no point of the curve. */
export const publicKeyOf = ({ x, y }: { readonly x: string; readonly y: string }): KeyObject | null => {
  try {
    return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  } catch {
    return null;
  }
};

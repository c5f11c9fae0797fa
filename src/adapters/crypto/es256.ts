import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import * as v from 'valibot';

/** JWS in compact serialization (RFC 7515 §7.1), signed with ES256, and the public keys that verify them. */

/** RFC 7518 §3.4: SHA-256, and a signature of r and s, 32 bytes each. */
export const [DIGEST, SIGNATURE_FORM] = ['sha256', 'ieee-p1363'] as const;

/**
 * The canonical form of a compact JWS with a signature of 64 bytes. Decoders of base64url also accept white space, and unused bits in the
 * last character, so one signature would have several texts.
 */
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/;

/** @param max characters: a longer text is rejected before anything is computed. */
export const formProblem = (text: string, max: number): 'too_long' | 'malformed' | null => {
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

/** @returns `null` also for JSON that `JSON.stringify` would write in another way: a duplicate member would be lost. */
export const decodedStrictly = (text: string): JsonObject | null => {
  const value = decoded(text);
  return value !== null && encoded(value) === text ? value : null;
};

/** Whether the signature of a compact JWS by ES256 is that of a key. The form was checked. */
export const isSignedBy = (text: string, key: KeyObject): boolean => {
  const end = text.lastIndexOf('.');
  const [signed, signature] = [Buffer.from(text.slice(0, end)), Buffer.from(text.slice(end + 1), 'base64url')];
  return verify(DIGEST, signed, { key, dsaEncoding: SIGNATURE_FORM }, signature);
};

/** A coordinate of P-256: 32 bytes of base64url, in canonical form (RFC 7518 §6.2.1.2). */
const Coordinate = v.pipe(v.string(), v.regex(/^[\w-]{42}[AEIMQUYcgkosw048]$/));

/** The members of a public key. */
export const P256 = { kty: v.literal('EC'), crv: v.literal('P-256'), x: Coordinate, y: Coordinate };

/** @returns `null` when it is no point of the curve. */
export const publicKeyOf = ({ x, y }: { readonly x: string; readonly y: string }): KeyObject | null => {
  try {
    return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  } catch {
    return null;
  }
};

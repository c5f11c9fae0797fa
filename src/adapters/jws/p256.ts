import { createPublicKey, type KeyObject } from 'node:crypto';
import * as v from 'valibot';

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

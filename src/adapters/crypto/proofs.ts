import { hash } from 'node:crypto';
import * as v from 'valibot';
import type { Proofs, ProofTarget } from '../../application/ports/proofs.ts';
import { PROOF_TOLERANCE } from '../../domain/device.ts';
import { PROOF_MAX_LENGTH } from '../json/fields.ts';
import { decodeCanonicalObject, isSignedBy, jwsProblem, P256_JWK, publicKeyOf } from './jws.ts';

/** The strict schema of `jwk` refuses private members (RFC 9449 §4.3). */
const DeviceHeader = v.strictObject({
  typ: v.literal('dpop+jwt'),
  alg: v.literal('ES256'),
  jwk: v.strictObject(P256_JWK),
});

const DeviceClaims = v.strictObject({
  htm: v.string(),
  htu: v.pipe(v.string(), v.url()),
  iat: v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(2 ** 32 - 1)),
  jti: v.pipe(v.string(), v.regex(/^[\w-]{16,64}$/)),
  ath: v.exactOptional(v.string()),
});
type DeviceClaims = v.InferOutput<typeof DeviceClaims>;

export const verifyDeviceProof: Proofs['verifyDevice'] = async (text, target, now) => {
  const invalid = { ok: false, reason: 'invalid' } as const;
  if (jwsProblem(text, PROOF_MAX_LENGTH) !== null) return invalid;
  const [header, claims] = text.split('.').map(decodeCanonicalObject);
  if (!v.is(DeviceHeader, header) || !v.is(DeviceClaims, claims) || !isForRequest(claims, target)) return invalid;
  const key = publicKeyOf(header.jwk);
  if (key === null || !isSignedBy(text, key)) return invalid;
  const { crv, kty, x, y } = header.jwk;
  // RFC 7638 §3: the required members in lexicographic order.
  const thumbprint = hash('sha256', JSON.stringify({ crv, kty, x, y }), 'base64url');
  if (Math.abs(now - claims.iat * 1000) > PROOF_TOLERANCE) return { ok: false, reason: 'untimely', key: thumbprint };
  return { ok: true, proof: { key: thumbprint, number: numberOf(claims) } };
};

/** Whether the claims of a proof name this request. The schemes of the URLs may differ, since a proxy may end TLS. */
const isForRequest = ({ htm, htu, ath }: DeviceClaims, { method, urls, accessToken }: ProofTarget) =>
  htm === method &&
  urls.some((url) => withoutScheme(url) === withoutScheme(htu)) &&
  ath === (accessToken && hash('sha256', accessToken, 'base64url'));

const withoutScheme = (url: string): string => new URL(url).href.replace(/^https?:/, '');

/** How many numbers the proofs of one second can have. Two of them have the same number by chance in one of two million cases. */
const NUMBERS_PER_SECOND = 2 ** 21;

const numberOf = ({ iat, jti }: DeviceClaims): number =>
  iat * NUMBERS_PER_SECOND + (hash('sha256', jti, 'buffer').readUInt32BE() % NUMBERS_PER_SECOND);

const MAX_BROWSER_PROOF_LENGTH = 4_096;

const Absent = v.optional(v.never());

const BrowserHeader = v.object({
  typ: v.literal('dbsc+jwt'),
  alg: v.literal('ES256'),
  // `d` is the private member. A browser that sends it has given its key away.
  jwk: v.optional(v.object({ ...P256_JWK, d: Absent })),
  // No critical extension is implemented (RFC 7515 §4.1.11).
  crit: Absent,
});

/** `aud`, `sub` and `iat` are not required, since browsers may omit them. */
const BrowserClaims = v.object({ jti: v.string(), authorization: v.optional(v.string()) });

export const verifyBrowserProof: Proofs['verifyBrowser'] = async (text, knownKey) => {
  if (jwsProblem(text, MAX_BROWSER_PROOF_LENGTH) !== null) return null;
  const [header, claims] = text.split('.').map(decodeCanonicalObject);
  if (!v.is(BrowserHeader, header) || !v.is(BrowserClaims, claims)) return null;
  if ((header.jwk === undefined) === (knownKey === null)) return null;
  const [x = '', y = ''] = knownKey?.split('.') ?? [header.jwk?.x, header.jwk?.y];
  const key = publicKeyOf({ x, y });
  if (key === null || !isSignedBy(text, key)) return null;
  return { key: `${x}.${y}`, challenge: claims.jti, authorization: claims.authorization ?? null };
};

import { hash, type KeyObject } from 'node:crypto';
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import * as v from 'valibot';
import type { AdmitOperator, OperatorRefusal, VerifyAssertion } from '../../application/ports/proofs.ts';
import { useOnce } from '../../application/storage/credentials.ts';
import type { Records } from '../../application/storage/records.ts';
import type { Operator } from '../../domain/operator.ts';
import { ID_PATTERN } from '../../domain/user.ts';

const MAX_LIFETIME_SECONDS = 60;
const CLOCK_TOLERANCE_SECONDS = 5;

const Claims = v.object({
  sub: v.pipe(v.string(), v.regex(ID_PATTERN)),
  jti: v.pipe(v.string(), v.regex(/^[!-~]{1,128}$/)),
  iat: v.number(),
  exp: v.number(),
});

/**
 * Verifies assertions by which the former system hands a logged-in user over: JWTs of the type `adoption+jwt`, signed with ES256 or EdDSA, whose `exp`
 * is at most a minute after `iat`.
 * @param keys public keys on P-256 (ES256), or of Ed25519 (EdDSA)
 * @param baseUrl the audience of the assertions. They may add a slash to it.
 */
export const assertionVerifier =
  (keys: readonly KeyObject[], baseUrl: string): VerifyAssertion =>
  async (text, now) => {
    // Loaded on use, since a start loads only what it needs (ADR 0021).
    const { jwtVerify } = await import('jose/jwt/verify');
    const problems: string[] = [];
    for (const key of keys) {
      try {
        const { payload } = await jwtVerify(text, key, {
          typ: 'adoption+jwt',
          algorithms: key.asymmetricKeyType === 'ec' ? ['ES256'] : ['EdDSA', 'Ed25519'],
          audience: [baseUrl, `${baseUrl}/`],
          maxTokenAge: MAX_LIFETIME_SECONDS,
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          currentDate: new Date(now),
        });
        const { success, output } = v.safeParse(Claims, payload);
        if (!success) return { problem: 'sub, jti or exp is missing or malformed' };
        const { sub: userId, jti: id, iat, exp } = output;
        if (exp - iat > MAX_LIFETIME_SECONDS) return { problem: 'exp is more than a minute after iat' };
        return { id, userId, expiresAt: refusedFrom(exp) };
      } catch (error) {
        problems.push(problemOf(error as JoseError));
      }
    }
    return { problem: [...new Set(problems)].join('; ') };
  };

/** The time from which jose refuses an assertion, in epoch milliseconds. `exp` may have a fraction, but jose counts the time in whole seconds. */
const refusedFrom = (exp: number): number => (Math.ceil(exp) + CLOCK_TOLERANCE_SECONDS) * 1_000;

/** An operator's program that may use the back office, and its public key, which is on P-256. */
export type OperatorKey = Operator & { readonly publicKey: KeyObject };

/** Bytes of `r`, the first half of an ES256 signature (RFC 7518 §3.4). */
const R_BYTES = 32;

/**
 * Admits programs by assertions (RFC 7523 §3), signed with ES256. `iss` and `sub` are the name of the key, `kid` is its thumbprint (RFC 7638), and `exp`
 * is at most a minute away, plus the tolerance of clocks. Each assertion is accepted once, by one of the instances.
 * @param audience the URL of the back office, without a trailing slash.
 */
export const operatorAdmission = async (
  operators: readonly OperatorKey[],
  audience: string,
  records: Records,
): Promise<AdmitOperator> => {
  const { jwtVerify } = await import('jose/jwt/verify');
  const byKid = new Map<unknown, OperatorKey>();
  for (const each of operators) byKid.set(await calculateJwkThumbprint(each.publicKey), each);
  return async (assertion, now) => {
    const operatorKey = byKid.get(kidOf(assertion));
    if (operatorKey === undefined) return refusal('no key of ADMIN_KEYS has this kid');
    const { publicKey, ...operator } = operatorKey;
    const { name } = operator;
    const verified = await jwtVerify(assertion, publicKey, {
      ...{ algorithms: ['ES256'], issuer: name, subject: name },
      ...{ currentDate: new Date(now), clockTolerance: CLOCK_TOLERANCE_SECONDS },
    }).catch((error: JoseError) => refusal(problemOf(error)));
    if ('ok' in verified) return verified;
    const { aud, exp = Number.POSITIVE_INFINITY } = verified.payload;
    // An assertion for several audiences is refused, since another audience could present it here.
    if (aud !== audience && aud !== `${audience}/`) return refusal('aud is not the URL of this back office');
    if (exp * 1_000 > now + (MAX_LIFETIME_SECONDS + CLOCK_TOLERANCE_SECONDS) * 1_000)
      return refusal('exp is missing, or more than a minute away');
    const isFirst = await useOnce(records, `operator ${idOf(assertion)}`, refusedFrom(exp));
    return isFirst ? { ok: true, operator } : refusal('the assertion was used before: sign one for each request');
  };
};

const refusal = (problem: string): OperatorRefusal => ({ ok: false, problem });

/** The members of an error of jose that quote no part of the assertion. Its message may quote a part: an unknown name in `crit`. */
type JoseError = { readonly code: string; readonly claim?: string };
const problemOf = ({ code, claim = 'none' }: JoseError): string => `${code}, claim: ${claim}`;

const kidOf = (assertion: string): unknown => {
  try {
    return decodeProtectedHeader(assertion).kid;
  } catch {
    return undefined;
  }
};

/** A digest of an assertion without `s`, the second half of its signature, since a second valid `s` can be computed from a valid `s`. */
const idOf = (assertion: string): string => {
  const end = assertion.lastIndexOf('.');
  const r = Buffer.from(assertion.slice(end + 1), 'base64url').subarray(0, R_BYTES);
  return hash('sha256', `${assertion.slice(0, end)}.${r.toString('base64url')}`, 'base64url');
};

import { hash, type KeyObject } from 'node:crypto';
import { decodeProtectedHeader } from 'jose/decode/protected_header';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import { jwtVerify } from 'jose/jwt/verify';
import type { AdmitOperator, OperatorRefused } from '../../application/ports/proofs.ts';
import { useOnce } from '../../application/storage/links.ts';
import type { Records } from '../../application/storage/records.ts';
import type { Operator } from '../../domain/operator.ts';

/** The key of a program that may use the back office. */
export type OperatorKey = Operator & {
  /** On P-256. */
  readonly publicKey: KeyObject;
};

/** Seconds. */
const LIFETIME = 60;
/** Seconds by which the clock of the program may be ahead or behind. */
const CLOCK_TOLERANCE = 5;
/** Bytes of `r`, the first half of a signature (RFC 7518 §3.4). */
const R_BYTES = 32;

/**
 * Admits programs by assertions (RFC 7523 §3): ES256, `iss` and `sub` are the name of the key, `kid` its thumbprint (RFC 7638), and `exp` is at
 * most a minute away. Each is accepted once, by all instances together.
 * @param audience the URL of the back office, without a trailing slash.
 */
export const operatorAdmission = async (
  operators: readonly OperatorKey[],
  audience: string,
  records: Records,
): Promise<AdmitOperator> => {
  const byKid = new Map<unknown, OperatorKey>();
  for (const each of operators) byKid.set(await calculateJwkThumbprint(each.publicKey), each);
  return async (assertion, now) => {
    const found = byKid.get(kidOf(assertion));
    if (found === undefined) return refused('no key of ADMIN_KEYS has this kid');
    const { publicKey, ...operator } = found;
    const options = {
      algorithms: ['ES256'],
      issuer: operator.name,
      subject: operator.name,
      currentDate: new Date(now),
    };
    const verified = await jwtVerify(assertion, publicKey, { ...options, clockTolerance: CLOCK_TOLERANCE }).catch(
      ({ code, claim = 'none' }: JoseError) => refused(`${code}, claim: ${claim}`),
    );
    if ('ok' in verified) return verified;
    const { aud, exp = Number.POSITIVE_INFINITY } = verified.payload;
    // Not one of several: another audience could present it here.
    if (aud !== audience && aud !== `${audience}/`) return refused('aud is not the URL of this back office');
    if (exp * 1_000 > now + (LIFETIME + CLOCK_TOLERANCE) * 1_000)
      return refused('exp is missing, or more than a minute away');
    const isFirst = await useOnce(records, `operator ${onceOf(assertion)}`, (Math.ceil(exp) + CLOCK_TOLERANCE) * 1_000);
    return isFirst ? { ok: true, operator } : refused('the assertion was used before: sign one for each request');
  };
};

const refused = (problem: string): OperatorRefused => ({ ok: false, problem });

/** Its message may contain parts of the assertion; these do not. */
type JoseError = { readonly code: string; readonly claim?: string };

const kidOf = (assertion: string): unknown => {
  try {
    return decodeProtectedHeader(assertion).kid;
  } catch {
    return undefined;
  }
};

/** Without `s` of the signature: for each `s` there is another one that anybody can compute, and that is valid as well. */
const onceOf = (assertion: string): string => {
  const end = assertion.lastIndexOf('.');
  const r = Buffer.from(assertion.slice(end + 1), 'base64url').subarray(0, R_BYTES);
  return hash('sha256', `${assertion.slice(0, end)}.${r.toString('base64url')}`, 'base64url');
};

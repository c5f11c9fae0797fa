import type { KeyObject } from 'node:crypto';
import {
  calculateJwkThumbprint,
  errors,
  type JWTHeaderParameters,
  type JWTPayload,
  type JWTVerifyResult,
  jwtVerify,
  SignJWT,
} from 'jose';
import * as v from 'valibot';
import { formProblem } from '../../src/adapters/crypto/es256.ts';
import {
  AccessTokenOfSession,
  claimsFor,
  type IssAndAud,
  type IssuerAndAudience,
  issAndAud,
  MAX_TOKEN_LENGTH,
  RefreshTokenOfSession,
  type SessionHeader,
} from '../../src/adapters/crypto/token-claims.ts';
import type { KeyPair, TokenKeys } from '../../src/adapters/crypto/token-keys.ts';
import { PublicUserJson } from '../../src/adapters/json/public-user.ts';
import type { TokenProblem, TokenSigner, Verified } from '../../src/application/ports/token-signer.ts';

const ALGORITHM = 'ES256';
const NOT_CONFIGURED: IssuerAndAudience = { issuer: null, audience: null };

/**
 * Compact JWS over ES256 (RFC 7515, RFC 7518 §3.4) by jose and WebCrypto: the reference that node-crypto.ts is tested against.
 * `kid` is the key's RFC 7638 thumbprint.
 * @param expected the `iss` and `aud` of the tokens that are signed, and required of those that are verified.
 */
export const joseTokenSigner = async (
  keys: TokenKeys,
  expected: IssuerAndAudience = NOT_CONFIGURED,
): Promise<TokenSigner> => {
  const access = await jwt(keys.access, issAndAud(expected));
  const refresh = await jwt(keys.refresh, issAndAud(expected));
  return {
    signAccess: ({ claims, sessionId }) =>
      access.sign({ ...claims, user: v.parse(PublicUserJson, claims.user) }, { sid: sessionId }),
    signRefresh: ({ claims, sessionId, rotation }) => refresh.sign(claims, { sid: sessionId, rot: rotation }),
    verifyAccess: (token, now) => access.verify(token, now, AccessTokenOfSession),
    verifyRefresh: (token, now) => refresh.verify(token, now, RefreshTokenOfSession),
  };
};

/** What `jwtVerify` can fail with when the keys are at hand. */
const PROBLEMS: Readonly<Partial<Record<string, TokenProblem>>> = {
  ERR_JOSE_ALG_NOT_ALLOWED: 'unsupported',
  ERR_JOSE_NOT_SUPPORTED: 'unsupported',
  ERR_JWKS_NO_MATCHING_KEY: 'unknown_key',
  ERR_JWS_INVALID: 'malformed',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'invalid_signature',
  ERR_JWT_CLAIM_VALIDATION_FAILED: 'unexpected_claims',
  ERR_JWT_EXPIRED: 'expired',
  ERR_JWT_INVALID: 'malformed',
} satisfies Partial<Record<errors.JOSEErrorCode, TokenProblem>>;

const problemOf = ({ code }: errors.JOSEError): TokenProblem => PROBLEMS[code] ?? 'malformed';

const jwt = async ({ privateKey, publicKeys }: KeyPair, expected: IssAndAud) => {
  const kid = await calculateJwkThumbprint(privateKey);
  const keysById = new Map<unknown, KeyObject>();
  for (const key of publicKeys) keysById.set(await calculateJwkThumbprint(key), key);

  const keyOf = (header: Partial<JWTHeaderParameters>): KeyObject => {
    const key = keysById.get(header.kid);
    if (key === undefined) throw new errors.JWKSNoMatchingKey();
    return key;
  };

  return {
    sign: (claims: JWTPayload, session: SessionHeader): Promise<string> =>
      new SignJWT({ ...claims, ...expected })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid, ...session })
        .sign(privateKey),

    verify: async <T>(token: string, now: number, schema: v.GenericSchema<unknown, T>): Promise<Verified<T>> => {
      const problem = formProblem(token, MAX_TOKEN_LENGTH);
      if (problem !== null) return { ok: false, reason: problem };
      let verified: JWTVerifyResult;
      try {
        verified = await jwtVerify(token, keyOf, { algorithms: [ALGORITHM], typ: 'JWT', currentDate: new Date(now) });
      } catch (error) {
        if (error instanceof errors.JOSEError) return { ok: false, reason: problemOf(error) };
        throw error;
      }
      const payload = claimsFor(expected, verified.payload);
      if (payload === null) return { ok: false, reason: 'wrong_issuer_or_audience' };
      const parsed = v.safeParse(schema, { ...verified, payload });
      return parsed.success ? { ok: true, token: parsed.output } : { ok: false, reason: 'unexpected_claims' };
    },
  };
};

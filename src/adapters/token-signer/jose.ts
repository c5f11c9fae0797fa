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
import type { TokenSigner, Verified } from '../../application/ports/token-signer.ts';
import { PublicUserJson } from '../json/public-user.ts';
import {
  AccessTokenOfSession,
  claimsBetween,
  type Parties,
  type PartyClaims,
  partyClaims,
  RefreshTokenOfSession,
} from './claims.ts';

/** One kind of token's keys, on P-256. */
export type KeyPair = {
  readonly privateKey: KeyObject;
  /** The first is current, the others still verify. */
  readonly publicKeys: readonly KeyObject[];
};

/** SPEC "Token scheme": separate key pairs exist for the two tokens. */
export type TokenKeys = { readonly access: KeyPair; readonly refresh: KeyPair };

const ALGORITHM = 'ES256';
const NOBODY: Parties = { issuer: null, audience: null };
/** Ours are under 1 KiB. What is longer is refused before anything is computed. */
const MAX_TOKEN_LENGTH = 8 * 1024;
/**
 * The one spelling of a compact JWS whose signature has 64 bytes. Decoders of base64url read others as the same signature:
 * space around it, or bits set that the last character has to spare.
 */
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/;

/**
 * Compact JWS over ES256 (RFC 7515, RFC 7518 §3.4). `kid` is the key's RFC 7638 thumbprint.
 * @param parties what both tokens say in `iss` and `aud`, and have to say to be accepted.
 */
export const joseTokenSigner = async (keys: TokenKeys, parties: Parties = NOBODY): Promise<TokenSigner> => {
  const access = await jwt(keys.access, partyClaims(parties));
  const refresh = await jwt(keys.refresh, partyClaims(parties));
  return {
    signAccess: ({ claims, sessionId }) =>
      access.sign({ ...claims, user: v.parse(PublicUserJson, claims.user) }, sessionId),
    signRefresh: ({ claims, sessionId }) => refresh.sign(claims, sessionId),
    verifyAccess: (token, now) => access.verify(token, now, AccessTokenOfSession),
    verifyRefresh: (token, now) => refresh.verify(token, now, RefreshTokenOfSession),
  };
};

const jwt = async ({ privateKey, publicKeys }: KeyPair, parties: PartyClaims) => {
  const kid = await calculateJwkThumbprint(privateKey);
  const ours = new Map<unknown, KeyObject>();
  for (const key of publicKeys) ours.set(await calculateJwkThumbprint(key), key);

  const keyOf = (header: Partial<JWTHeaderParameters>): KeyObject => {
    const key = ours.get(header.kid);
    if (key === undefined) throw new errors.JWKSNoMatchingKey();
    return key;
  };

  return {
    sign: (claims: JWTPayload, sid: string): Promise<string> =>
      new SignJWT({ ...claims, ...parties })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid, sid })
        .sign(privateKey),

    verify: async <T>(token: string, now: number, schema: v.GenericSchema<unknown, T>): Promise<Verified<T>> => {
      if (token.length > MAX_TOKEN_LENGTH) return { ok: false, reason: 'too_long' };
      if (!COMPACT_JWS.test(token)) return { ok: false, reason: 'malformed' };
      let verified: JWTVerifyResult;
      try {
        verified = await jwtVerify(token, keyOf, { algorithms: [ALGORITHM], typ: 'JWT', currentDate: new Date(now) });
      } catch (error) {
        if (error instanceof errors.JOSEError) return { ok: false, reason: error.code };
        throw error;
      }
      const payload = claimsBetween(parties, verified.payload);
      if (payload === null) return { ok: false, reason: 'other_parties' };
      const parsed = v.safeParse(schema, { ...verified, payload });
      return parsed.success ? { ok: true, token: parsed.output } : { ok: false, reason: 'unexpected_claims' };
    },
  };
};

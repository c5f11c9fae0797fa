import { type KeyObject, sign, verify } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import * as v from 'valibot';
import type { TokenProblem, TokenSigner, Verified } from '../../application/ports/token-signer.ts';
import { PublicUserJson } from '../json/public-user.ts';
import {
  AccessTokenOfSession,
  claimsFor,
  formProblem,
  type IssAndAud,
  type IssuerAndAudience,
  issAndAud,
  RefreshTokenOfSession,
  type SessionHeader,
} from './claims.ts';
import type { KeyPair, TokenKeys } from './keys.ts';

const NOT_CONFIGURED: IssuerAndAudience = { issuer: null, audience: null };
/** RFC 7518 §3.4: SHA-256, and a signature of r and s, 32 bytes each. */
const [DIGEST, SIGNATURE_FORM] = ['sha256', 'ieee-p1363'] as const;

/**
 * Compact JWS with ES256 (RFC 7515, RFC 7518 §3.4), signed and verified on the calling thread, which takes less time than a hand-over to
 * another one (ADR 0014). `kid` is the thumbprint of the key (RFC 7638).
 * @param expected the `iss` and `aud` of the tokens that are signed, and required of those that are verified.
 */
export const nodeCryptoTokenSigner = async (
  keys: TokenKeys,
  expected: IssuerAndAudience = NOT_CONFIGURED,
): Promise<TokenSigner> => {
  const access = await jwt(keys.access, issAndAud(expected));
  const refresh = await jwt(keys.refresh, issAndAud(expected));
  return {
    signAccess: async ({ claims, sessionId }) =>
      access.sign({ ...claims, user: v.parse(PublicUserJson, claims.user) }, { sid: sessionId }),
    signRefresh: async ({ claims, sessionId, rotation }) => refresh.sign(claims, { sid: sessionId, rot: rotation }),
    verifyAccess: async (token, now) => access.verify(token, now, AccessTokenOfSession),
    verifyRefresh: async (token, now) => refresh.verify(token, now, RefreshTokenOfSession),
  };
};

type JsonObject = { readonly [member: string]: unknown };

const rejected = (reason: TokenProblem) => ({ ok: false, reason }) as const;

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** @returns `null` for a text that is not a JSON object. */
const decoded = (text: string): JsonObject | null => {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
};

const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const jwt = async ({ privateKey, publicKeys }: KeyPair, expected: IssAndAud) => {
  const kid = await calculateJwkThumbprint(privateKey);
  const keysById = new Map<unknown, KeyObject>();
  for (const key of publicKeys) keysById.set(await calculateJwkThumbprint(key), key);

  /** The key that a header names, or the problem of a header that is not ES256 with one of these keys. */
  const keyOf = (header: JsonObject): KeyObject | TokenProblem => {
    if (typeof header.alg !== 'string') return 'malformed';
    // No extension is implemented, so none can be critical: RFC 7515 §4.1.11.
    if (header.alg !== 'ES256' || Object.hasOwn(header, 'crit')) return 'unsupported';
    return keysById.get(header.kid) ?? 'unknown_key';
  };

  return {
    sign: (claims: object, session: SessionHeader): string => {
      const text = `${encoded({ alg: 'ES256', typ: 'JWT', kid, ...session })}.${encoded({ ...claims, ...expected })}`;
      const signature = sign(DIGEST, Buffer.from(text), { key: privateKey, dsaEncoding: SIGNATURE_FORM });
      return `${text}.${signature.toString('base64url')}`;
    },

    verify: <T>(token: string, now: number, schema: v.GenericSchema<unknown, T>): Verified<T> => {
      const problem = formProblem(token);
      if (problem !== null) return rejected(problem);
      const [header = '', claims = '', signature = ''] = token.split('.');
      const protectedHeader = decoded(header);
      if (protectedHeader === null) return rejected('malformed');
      const key = keyOf(protectedHeader);
      if (typeof key === 'string') return rejected(key);
      const [text, bytes] = [Buffer.from(`${header}.${claims}`), Buffer.from(signature, 'base64url')];
      if (!verify(DIGEST, text, { key, dsaEncoding: SIGNATURE_FORM }, bytes)) return rejected('invalid_signature');
      const content = decoded(claims);
      if (content === null) return rejected('malformed');
      if (typeof content.exp === 'number' && content.exp <= Math.floor(now / 1000)) return rejected('expired');
      const payload = claimsFor(expected, content);
      if (payload === null) return rejected('wrong_issuer_or_audience');
      const parsed = v.safeParse(schema, { payload, protectedHeader });
      return parsed.success ? { ok: true, token: parsed.output } : rejected('unexpected_claims');
    },
  };
};

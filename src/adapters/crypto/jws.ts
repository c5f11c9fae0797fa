import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import * as v from 'valibot';
import type {
  AccessToken,
  RefreshToken,
  TokenProblem,
  TokenSigner,
  Verification,
} from '../../application/ports/token-signer.ts';
import { PublicUserJson } from '../json/fields.ts';
import { AccessTokenOfSession, MAX_TOKEN_LENGTH, RefreshTokenOfSession, type SessionHeader } from './token-claims.ts';
import type { KeyPair, TokenKeys } from './token-keys.ts';

/** ES256 (RFC 7518 §3.4): SHA-256, and a signature of r and s, 32 bytes each. */
const [DIGEST, SIGNATURE_FORM] = ['sha256', 'ieee-p1363'] as const;

/** The signature has 64 bytes, in canonical base64url. Decoders accept white space, and other unused bits at the end: one JWS would have several texts. */
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/;

/** Why a text has not the form of a compact JWS with ES256; `null` if it has. @param max the greatest length of the text, in characters */
export const jwsProblem = (text: string, max: number): 'too_long' | 'malformed' | null => {
  if (text.length > max) return 'too_long';
  return COMPACT_JWS.test(text) ? null : 'malformed';
};

type JsonObject = { readonly [member: string]: unknown };

const encodeObject = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** @returns the JSON object that a text of base64url encodes; `null` if there is none */
export const decodeObject = (text: string): JsonObject | null => {
  try {
    const value = JSON.parse(Buffer.from(text, 'base64url').toString());
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
};

/** As `decodeObject`, and `null` also for JSON that `JSON.stringify` would write differently, such as an object with a duplicate member. */
export const decodeCanonicalObject = (text: string): JsonObject | null => {
  const value = decodeObject(text);
  return value !== null && encodeObject(value) === text ? value : null;
};

/** Whether the signature of a compact JWS is of this key. @param text a text without a `jwsProblem` */
export const isSignedBy = (text: string, key: KeyObject): boolean => {
  const end = text.lastIndexOf('.');
  const [signed, signature] = [Buffer.from(text.slice(0, end)), Buffer.from(text.slice(end + 1), 'base64url')];
  return verify(DIGEST, signed, { key, dsaEncoding: SIGNATURE_FORM }, signature);
};

/** A coordinate of P-256: 32 bytes in canonical base64url (RFC 7518 §6.2.1.2). */
const Coordinate = v.pipe(v.string(), v.regex(/^[\w-]{42}[AEIMQUYcgkosw048]$/));

export const P256_JWK = { kty: v.literal('EC'), crv: v.literal('P-256'), x: Coordinate, y: Coordinate };

/** The key of a point of P-256. @returns `null` if x and y are not on the curve */
export const publicKeyOf = ({ x, y }: { readonly x: string; readonly y: string }): KeyObject | null => {
  try {
    return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  } catch {
    return null;
  }
};

/** `iss` and `aud` of tokens (RFC 7519 §4.1.1, §4.1.3); `null`: not configured. */
type IssuerAndAudience = { readonly issuer: string | null; readonly audience: string | null };

/**
 * Compact JWS with ES256 (RFC 7515, RFC 7518 §3.4), by `node:crypto` on the calling thread (ADR 0004). `kid` is the thumbprint of the key (RFC 7638).
 *
 * To sign twice and verify once takes 166 µs of processor time here, but would take 340 µs with jose (Node.js 26, two cores). WebCrypto, which jose uses,
 * runs each operation in the thread pool of libuv: in a program whose own `bcrypt.compare` fills that pool, each took seconds instead of half a
 * millisecond. The tests compare this signer with jose.
 *
 * Access and refresh tokens are signed with the configured issuer and audience, and accepted only if theirs are the same.
 */
export const nodeCryptoTokenSigner = async (
  keys: TokenKeys,
  { issuer, audience }: IssuerAndAudience = { issuer: null, audience: null },
): Promise<TokenSigner> => {
  const configuredClaims = { ...(issuer !== null && { iss: issuer }), ...(audience !== null && { aud: audience }) };
  const access = await jwt(keys.access, configuredClaims);
  const refresh = await jwt(keys.refresh, configuredClaims);
  return {
    signAccess: async ({ claims, sessionId }) =>
      access.sign({ ...claims, user: v.parse(PublicUserJson, claims.user), ...configuredClaims }, { sid: sessionId }),
    signRefresh: async ({ claims, sessionId, rotation }) =>
      refresh.sign({ ...claims, ...configuredClaims }, { sid: sessionId, rot: rotation }),
    // So that a careless verifier does not take the list for an access token, it has a type and an audience of its own (RFC 8725 §3.11, §3.12).
    signEnded: async (list, now) =>
      access.sign(
        { ...configuredClaims, aud: 'ended-sessions', iat: Math.floor(now / 1_000), ...list },
        { typ: 'ended-sessions+jwt' },
      ),
    verifyAccess: async (token, now) => access.verify(token, now, AccessTokenOfSession),
    verifyRefresh: async (token, now) => refresh.verify(token, now, RefreshTokenOfSession),
  };
};

const rejection = (reason: TokenProblem) => ({ ok: false, reason }) as const;

const jwt = async ({ privateKey, publicKeys }: KeyPair, expected: { readonly iss?: string; readonly aud?: string }) => {
  const kid = await calculateJwkThumbprint(privateKey);
  const keysById = new Map<unknown, KeyObject>();
  for (const key of publicKeys) keysById.set(await calculateJwkThumbprint(key), key);

  const keyOf = (header: JsonObject): KeyObject | TokenProblem => {
    if (typeof header.alg !== 'string') return 'malformed';
    // No critical extension is implemented (RFC 7515 §4.1.11).
    if (header.alg !== 'ES256' || Object.hasOwn(header, 'crit')) return 'unsupported';
    return keysById.get(header.kid) ?? 'unknown_key';
  };

  return {
    sign: (claims: object, parameters: SessionHeader | { readonly typ: string }): string => {
      const text = `${encodeObject({ alg: 'ES256', typ: 'JWT', kid, ...parameters })}.${encodeObject(claims)}`;
      const signature = sign(DIGEST, Buffer.from(text), { key: privateKey, dsaEncoding: SIGNATURE_FORM });
      return `${text}.${signature.toString('base64url')}`;
    },

    verify: <T>(token: string, now: number, schema: v.GenericSchema<unknown, T>): Verification<T> => {
      const problem = jwsProblem(token, MAX_TOKEN_LENGTH);
      if (problem !== null) return rejection(problem);
      const [header = '', claims = ''] = token.split('.');
      const protectedHeader = decodeObject(header);
      if (protectedHeader === null) return rejection('malformed');
      const key = keyOf(protectedHeader);
      if (typeof key === 'string') return rejection(key);
      if (!isSignedBy(token, key)) return rejection('invalid_signature');
      const content = decodeObject(claims);
      if (content === null) return rejection('malformed');
      if (typeof content.exp === 'number' && content.exp <= Math.floor(now / 1000)) return rejection('expired');
      const { iss, aud, ...payload } = content;
      if (iss !== expected.iss || aud !== expected.aud) return rejection('wrong_issuer_or_audience');
      const parsed = v.safeParse(schema, { payload, protectedHeader });
      return parsed.success ? { ok: true, token: parsed.output } : rejection('unexpected_claims');
    },
  };
};

/** The greatest number of tokens of each kind. */
const MAX_REMEMBERED = 5_000;

/**
 * Remembers tokens by their SHA-256, so that their signatures need not be verified: access tokens that this process has verified, and refresh tokens
 * that it has issued. Of a remembered token only the expiry is checked, since keys and configuration do not change while a process runs (ADR 0004).
 * @param options.max the greatest number of tokens of each kind, for tests
 */
export const rememberingTokenSigner = (signer: TokenSigner, { max = MAX_REMEMBERED } = {}): TokenSigner => {
  const access = tokenMemory<AccessToken>(max);
  const refresh = tokenMemory<RefreshToken>(max);
  return {
    ...signer,
    async signRefresh({ claims, sessionId, rotation }) {
      const text = await signer.signRefresh({ claims, sessionId, rotation });
      refresh.add(digestOf(text), freezeToken({ claims: { ...claims }, sessionId, rotation }));
      return text;
    },
    async verifyAccess(text, now) {
      const digest = digestOf(text);
      const remembered = access.take(digest, now);
      if (remembered !== undefined) {
        access.add(digest, remembered);
        return { ok: true, token: remembered };
      }
      const verified = await signer.verifyAccess(text, now);
      if (verified.ok) access.add(digest, freezeToken(verified.token));
      return verified;
    },
    /** Also forgets the token, so that tokens that a refresh has replaced take no room. */
    async verifyRefresh(text, now) {
      const remembered = refresh.take(digestOf(text), now);
      return remembered === undefined ? signer.verifyRefresh(text, now) : { ok: true, token: remembered };
    },
  };
};

const digestOf = (text: string): string => hash('sha256', text, 'base64url');

type Token = { readonly claims: { readonly exp: number } };

/** Tokens by their digest. If there are more than `max`, the one that was added earliest is forgotten. */
const tokenMemory = <Each extends Token>(max: number) => {
  const tokens = new Map<string, Each>();
  return {
    add(digest: string, token: Each): void {
      tokens.set(digest, token);
      if (tokens.size <= max) return;
      const [oldest = digest] = tokens.keys();
      tokens.delete(oldest);
    },
    /** Removes a token, and returns it unless it has expired. */
    take(digest: string, now: number): Each | undefined {
      const token = tokens.get(digest);
      tokens.delete(digest);
      return token !== undefined && now < token.claims.exp * 1000 ? token : undefined;
    },
  };
};

/** Freezes a token, its claims and their members, since several requests may get the same object. */
const freezeToken = <Each extends Token>(token: Each): Each => {
  for (const member of Object.values(token.claims)) if (typeof member === 'object') Object.freeze(member);
  Object.freeze(token.claims);
  return Object.freeze(token);
};

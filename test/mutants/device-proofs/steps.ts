import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import type { DeviceProofs, ProofOutcome, ProofTarget } from '../../../src/application/ports/device-proofs.ts';

export type Jwk = { readonly kty: string; readonly crv: string; readonly x: string; readonly y: string };
type Header = { readonly typ: string; readonly alg: string; readonly jwk: Jwk };
type Claims = { readonly htm: string; readonly htu: string; readonly iat: number; readonly jti: string };

export const withoutScheme = (url: string): string => new URL(url).href.replace(/^https?:/, '');
const thumbprintOf = ({ crv, kty, x, y }: Jwk): string =>
  hash('sha256', JSON.stringify({ crv, kty, x, y }), 'base64url');

/** The steps of a correct verification. A mutant has another one in place of one. */
export const CORRECT = {
  form: (text: string): boolean => text.length <= 2_048 && /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/.test(text),
  read: (part: string): unknown => {
    const value = JSON.parse(Buffer.from(part, 'base64url').toString());
    if (Buffer.from(JSON.stringify(value)).toString('base64url') !== part) throw new Error('another form');
    return value;
  },
  header: (header: Header): boolean =>
    Object.keys(header).sort().join() === 'alg,jwk,typ' && header.typ === 'dpop+jwt' && header.alg === 'ES256',
  jwk: (jwk: Jwk): boolean =>
    Object.keys(jwk).sort().join() === 'crv,kty,x,y' && jwk.crv === 'P-256' && [jwk.x, jwk.y].every(isCanonical),
  key: (jwk: Jwk): KeyObject | null => createPublicKey({ key: jwk, format: 'jwk' }),
  claims: (claims: Claims): boolean =>
    Object.keys(claims).sort().join() === 'htm,htu,iat,jti' &&
    Number.isSafeInteger(claims.iat) &&
    claims.iat >= 0 &&
    typeof claims.jti === 'string' &&
    /^[\w-]{16,64}$/.test(claims.jti),
  target: ({ htm, htu }: Claims, { method, urls }: ProofTarget): boolean =>
    typeof htu === 'string' && htm === method && urls.some((url) => withoutScheme(url) === withoutScheme(htu)),
  signature: (signed: string, signature: string, key: KeyObject, _header: Header, _timely: boolean): boolean =>
    verify('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url')),
  isTimely: (now: number, { iat }: Claims): boolean => Math.abs(now - iat * 1_000) <= 60_000,
  thumbprint: thumbprintOf,
  number: ({ iat, jti }: Claims, _text: string): number =>
    iat * 2 ** 21 + (hash('sha256', jti, 'buffer').readUInt32BE() % 2 ** 21),
  untimely: (key: string): ProofOutcome => ({ ok: false, reason: 'untimely', key }),
  thrown: (_error: unknown): ProofOutcome => ({ ok: false, reason: 'invalid' }),
};

const isCanonical = (text: unknown): boolean => typeof text === 'string' && /^[\w-]{42}[AEIMQUYcgkosw048]$/.test(text);

export type Steps = typeof CORRECT;

export const INVALID: ProofOutcome = { ok: false, reason: 'invalid' };

export const proofsBy = (steps: Steps): DeviceProofs => {
  const judge = (text: string, target: ProofTarget, now: number): ProofOutcome => {
    if (!steps.form(text)) return INVALID;
    const [first = '', second = '', signature = ''] = text.split('.');
    const [header, claims] = [steps.read(first) as Header, steps.read(second) as Claims];
    if (!steps.header(header) || !steps.jwk(header.jwk) || !steps.claims(claims)) return INVALID;
    if (!steps.target(claims, target)) return INVALID;
    const key = steps.key(header.jwk);
    const timely = steps.isTimely(now, claims);
    if (key === null || !steps.signature(`${first}.${second}`, signature, key, header, timely)) return INVALID;
    if (!timely) return steps.untimely(steps.thumbprint(header.jwk));
    return { ok: true, proof: { key: steps.thumbprint(header.jwk), number: steps.number(claims, text) } };
  };
  return {
    verify: async (text, target, now) => {
      try {
        return judge(text, target, now);
      } catch (error) {
        return steps.thrown(error);
      }
    },
  };
};

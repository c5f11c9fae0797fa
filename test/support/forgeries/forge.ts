import { createHash, createHmac, createPublicKey, type KeyObject, sign } from 'node:crypto';
import type { KeyPair } from '../../../src/adapters/crypto/token-keys.ts';

/** Makes a signature over the first two parts of a token. */
export type Signer = (input: Buffer) => Buffer;
export type Json = Readonly<Record<string, unknown>>;

/** What forgeries are made of: the tokens of a victim, the keys of the service, and those of the attacker. */
export type Material = {
  readonly kind: 'access' | 'refresh';
  /** A valid token of this kind, with its decoded header and claims. */
  readonly token: string;
  readonly header: Json;
  readonly claims: Json;
  /** The pair that signs this kind, and the one that signs the other. */
  readonly pair: KeyPair;
  readonly otherPair: KeyPair;
  /** The same victim's valid token of the other kind. */
  readonly otherToken: string;
  readonly attacker: KeyPair;
  /** The base address of the attacker's key set. */
  readonly attackerUrl: string;
};

/** Makes a forged token. */
export type Forge = (material: Material) => string;
export type Forgeries = Readonly<Record<string, Forge>>;

/** Base64url of a string, or of the JSON of any other value. */
export const encoded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

export const decoded = (part: string | undefined): Json => JSON.parse(Buffer.from(part ?? '', 'base64url').toString());

export const partsOf = (token: string): [header: string, payload: string, signature: string] => {
  const [header = '', payload = '', signature = ''] = token.split('.');
  return [header, payload, signature];
};

/** A compact JWS (RFC 7515 §7.1) with any header and payload. */
export const compact = (header: unknown, payload: unknown, signer: Signer): string => {
  const input = `${encoded(header)}.${encoded(payload)}`;
  return `${input}.${signer(Buffer.from(input)).toString('base64url')}`;
};

/** An ECDSA signature in the form of RFC 7518 §3.4. */
export const ecdsa =
  (key: KeyObject, hash = 'sha256'): Signer =>
  (input) =>
    sign(hash, input, { key, dsaEncoding: 'ieee-p1363' });

export const hmac =
  (secret: string | Buffer, hash = 'sha256'): Signer =>
  (input) =>
    createHmac(hash, secret).update(input).digest();

/** These bytes as the signature of any input. */
export const bytes =
  (signature: Buffer): Signer =>
  () =>
    signature;

export const publicKeyOf = ({ privateKey }: KeyPair): KeyObject => createPublicKey(privateKey);

/** RFC 7638 §3. */
export const thumbprint = (pair: KeyPair): string => {
  const { crv, kty, x, y } = publicKeyOf(pair).export({ format: 'jwk' });
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
};

/** A token with a valid signature and these members of the header changed. */
export const withHeader =
  (changes: Json | ((material: Material) => Json)): Forge =>
  (m) =>
    compact(
      { ...m.header, ...(typeof changes === 'function' ? changes(m) : changes) },
      m.claims,
      ecdsa(m.pair.privateKey),
    );

/** A token with a valid signature and these claims changed. */
export const withClaims =
  (changes: Json | ((material: Material) => Json)): Forge =>
  (m) =>
    compact(
      m.header,
      { ...m.claims, ...(typeof changes === 'function' ? changes(m) : changes) },
      ecdsa(m.pair.privateKey),
    );

/** One forgery per value, by name. */
export const each = <T>(
  variants: readonly T[],
  name: (variant: T) => string,
  forge: (variant: T) => Forge,
): Forgeries => Object.fromEntries(variants.map((variant) => [name(variant), forge(variant)]));

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

export const publicKeyOf = ({ privateKey }: KeyPair): KeyObject => createPublicKey(privateKey);

/** RFC 7638 §3. */
export const thumbprint = (pair: KeyPair): string => {
  const { crv, kty, x, y } = publicKeyOf(pair).export({ format: 'jwk' });
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
};

type Changes = Json | ((material: Material) => Json);
const changesOf = (changes: Changes, material: Material) =>
  typeof changes === 'function' ? changes(material) : changes;

/** A token with a valid signature and these members of the header changed. */
export const withHeader =
  (changes: Changes): Forge =>
  (m) =>
    compact({ ...m.header, ...changesOf(changes, m) }, m.claims, ecdsa(m.pair.privateKey));

/** A token with a valid signature and these claims changed. */
export const withClaims =
  (changes: Changes): Forge =>
  (m) =>
    compact(m.header, { ...m.claims, ...changesOf(changes, m) }, ecdsa(m.pair.privateKey));

/** One forgery for each variant, by name. */
export const each = <const T>(
  variants: readonly T[],
  forgery: (variant: T) => readonly [name: string, forge: Forge],
): Forgeries => Object.fromEntries(variants.map(forgery));

/** A value in the name of a forgery. */
export const shown = (value: unknown): string =>
  JSON.stringify(value, (_name, each) => (each === undefined ? 'missing' : each));

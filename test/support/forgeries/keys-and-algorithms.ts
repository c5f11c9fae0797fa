import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import {
  bytes,
  compact,
  each,
  ecdsa,
  encoded,
  type Forge,
  type Forgeries,
  hmac,
  type Json,
  type Material,
  partsOf,
  publicKeyOf,
  type Signer,
  thumbprint,
  withHeader,
} from './forge.ts';

const NONE = ['none', 'None', 'NONE', 'nOnE', ''];

/** CVE-2015-9235: "no signature" as an algorithm. */
const unsigned: Forgeries = {
  ...each(
    NONE,
    (alg) => `alg "${alg}" without a signature`,
    (alg) => (m) => compact({ ...m.header, alg }, m.claims, bytes(Buffer.alloc(0))),
  ),
  ...each(
    NONE,
    (alg) => `alg "${alg}" with the genuine signature`,
    (alg) => (m) => `${encoded({ ...m.header, alg })}.${partsOf(m.token)[1]}.${partsOf(m.token)[2]}`,
  ),
  'alg "none" under a genuine signature of its own': withHeader({ alg: 'none' }),
  'alg "ES256" and then "none"': ({ header, claims }) =>
    `${encoded(`${JSON.stringify(header).slice(0, -1)},"alg":"none"}`)}.${encoded(claims)}.`,
  'no alg': withHeader({ alg: undefined }),
  'an alg that is a list': withHeader({ alg: ['ES256'] }),
  'alg "es256"': withHeader({ alg: 'es256' }),
};

const SECRETS: Readonly<Record<string, (key: KeyObject) => string | Buffer>> = {
  PEM: (key) => key.export({ format: 'pem', type: 'spki' }).toString(),
  'PEM without its last line break': (key) => key.export({ format: 'pem', type: 'spki' }).toString().trimEnd(),
  DER: (key) => key.export({ format: 'der', type: 'spki' }),
  JWK: (key) => JSON.stringify(key.export({ format: 'jwk' })),
  'bare point': (key) => key.export({ format: 'der', type: 'spki' }).subarray(-65),
};
const HMACS = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' };

/** CVE-2016-5431: the public key as the secret of an HMAC. */
const confused: Forgeries = Object.fromEntries(
  Object.entries(SECRETS).flatMap(([form, secretOf]) =>
    Object.entries(HMACS).flatMap(([alg, hash]): [string, Forge][] => [
      [
        `${alg} with the public key as its secret: ${form}`,
        (m) => compact({ ...m.header, alg }, m.claims, hmac(secretOf(publicKeyOf(m.pair)), hash)),
      ],
      [
        `${alg} that calls itself ES256: ${form}`,
        (m) => compact(m.header, m.claims, hmac(secretOf(publicKeyOf(m.pair)), hash)),
      ],
    ]),
  ),
);

const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey;
const p521 = generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey;
const secp256k1 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey;
const ed25519 = generateKeyPairSync('ed25519').privateKey;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const plain =
  (key: KeyObject, hash: string | null): Signer =>
  (input) =>
    sign(hash, input, key);

const ALGORITHMS: Readonly<Record<string, Signer>> = {
  ES384: ecdsa(p384, 'sha384'),
  ES512: ecdsa(p521, 'sha512'),
  ES256K: ecdsa(secp256k1),
  EdDSA: plain(ed25519, null),
  Ed25519: plain(ed25519, null),
  RS256: plain(rsa, 'sha256'),
  PS256: plain(rsa, 'sha256'),
};

const otherAlgorithms: Forgeries = Object.fromEntries(
  Object.entries(ALGORITHMS).flatMap(([alg, signer]): [string, Forge][] => [
    [`a key of ${alg}`, (m) => compact({ ...m.header, alg }, m.claims, signer)],
    [`a key of ${alg} that calls itself ES256`, (m) => compact(m.header, m.claims, signer)],
    [`alg ${alg} under the genuine key`, withHeader({ alg })],
  ]),
);

const byStranger =
  (changes: (material: Material) => Json = () => ({})): Forge =>
  (m) =>
    compact({ ...m.header, ...changes(m) }, m.claims, ecdsa(m.stranger.privateKey));

const otherKeys: Forgeries = {
  'another key under our kid': byStranger(),
  'another key under its own kid': byStranger((m) => ({ kid: thumbprint(m.stranger) })),
  'another key without a kid': byStranger(() => ({ kid: undefined })),
  "the other pair's key under the right kid": (m) => compact(m.header, m.claims, ecdsa(m.otherPair.privateKey)),
  "the other pair's key under its own kid": (m) =>
    compact({ ...m.header, kid: thumbprint(m.otherPair) }, m.claims, ecdsa(m.otherPair.privateKey)),
};

const jwkOf = ({ stranger }: Material) => ({ ...publicKeyOf(stranger).export({ format: 'jwk' }), alg: 'ES256' });
const derOf = ({ stranger }: Material) => publicKeyOf(stranger).export({ format: 'der', type: 'spki' });

/** CVE-2018-0114: members of the header that bring a key along, or say where there is one. */
const BROUGHT: Readonly<Record<string, (material: Material) => Json>> = {
  'a jwk': (m) => ({ jwk: jwkOf(m) }),
  'a private jwk': (m) => ({ jwk: m.stranger.privateKey.export({ format: 'jwk' }) }),
  'a jwk of an empty secret': () => ({ jwk: { kty: 'oct', k: '' } }),
  'a jku': (m) => ({ jku: `${m.strangersUrl}/jwks.json` }),
  'an x5u': (m) => ({ x5u: `${m.strangersUrl}/chain.pem` }),
  'an x5c': (m) => ({ x5c: [derOf(m).toString('base64')] }),
  'an x5t': (m) => ({ x5t: encoded('sha-1'), 'x5t#S256': encoded(thumbprint(m.stranger)) }),
};

const broughtKeys: Forgeries = Object.fromEntries(
  Object.entries(BROUGHT).flatMap(([what, changes]): [string, Forge][] => [
    [`${what} of another key under our kid`, byStranger(changes)],
    [`${what} of another key under its own kid`, byStranger((m) => ({ ...changes(m), kid: thumbprint(m.stranger) }))],
    [`${what} of another key without a kid`, byStranger((m) => ({ ...changes(m), kid: undefined }))],
    [`${what} beside the genuine key`, withHeader(changes)],
  ]),
);

export const KEYS_AND_ALGORITHMS: Forgeries = {
  ...unsigned,
  ...confused,
  ...otherAlgorithms,
  ...otherKeys,
  ...broughtKeys,
};

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
    (alg) => `alg "${alg}" with the valid signature`,
    (alg) => (m) => `${encoded({ ...m.header, alg })}.${partsOf(m.token)[1]}.${partsOf(m.token)[2]}`,
  ),
  'alg "none" with a valid signature': withHeader({ alg: 'none' }),
  'the algs "ES256" and "none"': ({ header, claims }) =>
    `${encoded(`${JSON.stringify(header).slice(0, -1)},"alg":"none"}`)}.${encoded(claims)}.`,
  'no alg': withHeader({ alg: undefined }),
  'an alg that is a list': withHeader({ alg: ['ES256'] }),
  'alg "es256"': withHeader({ alg: 'es256' }),
};

const SECRETS: Readonly<Record<string, (key: KeyObject) => string | Buffer>> = {
  PEM: (key) => key.export({ format: 'pem', type: 'spki' }).toString(),
  'PEM without the last line break': (key) => key.export({ format: 'pem', type: 'spki' }).toString().trimEnd(),
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
        `${alg} with the alg ES256: ${form}`,
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
    [`a key of ${alg} with the alg ES256`, (m) => compact(m.header, m.claims, signer)],
    [`alg ${alg} with the valid key`, withHeader({ alg })],
  ]),
);

const byAttacker =
  (changes: (material: Material) => Json = () => ({})): Forge =>
  (m) =>
    compact({ ...m.header, ...changes(m) }, m.claims, ecdsa(m.attacker.privateKey));

const otherKeys: Forgeries = {
  'another key with the valid kid': byAttacker(),
  'another key with its own kid': byAttacker((m) => ({ kid: thumbprint(m.attacker) })),
  'another key without a kid': byAttacker(() => ({ kid: undefined })),
  'the key of the other token kind with the valid kid': (m) =>
    compact(m.header, m.claims, ecdsa(m.otherPair.privateKey)),
  'the key of the other token kind with its own kid': (m) =>
    compact({ ...m.header, kid: thumbprint(m.otherPair) }, m.claims, ecdsa(m.otherPair.privateKey)),
};

const jwkOf = ({ attacker }: Material) => ({ ...publicKeyOf(attacker).export({ format: 'jwk' }), alg: 'ES256' });
const derOf = ({ attacker }: Material) => publicKeyOf(attacker).export({ format: 'der', type: 'spki' });

/** CVE-2018-0114: members of the header that contain or locate a key. */
const KEY_MEMBERS: Readonly<Record<string, (material: Material) => Json>> = {
  'a jwk': (m) => ({ jwk: jwkOf(m) }),
  'a private jwk': (m) => ({ jwk: m.attacker.privateKey.export({ format: 'jwk' }) }),
  'a jwk of an empty secret': () => ({ jwk: { kty: 'oct', k: '' } }),
  'a jku': (m) => ({ jku: `${m.attackerUrl}/jwks.json` }),
  'an x5u': (m) => ({ x5u: `${m.attackerUrl}/chain.pem` }),
  'an x5c': (m) => ({ x5c: [derOf(m).toString('base64')] }),
  'an x5t': (m) => ({ x5t: encoded('sha-1'), 'x5t#S256': encoded(thumbprint(m.attacker)) }),
};

const embeddedKeys: Forgeries = Object.fromEntries(
  Object.entries(KEY_MEMBERS).flatMap(([what, changes]): [string, Forge][] => [
    [`${what} of another key with the valid kid`, byAttacker(changes)],
    [`${what} of another key with its own kid`, byAttacker((m) => ({ ...changes(m), kid: thumbprint(m.attacker) }))],
    [`${what} of another key without a kid`, byAttacker((m) => ({ ...changes(m), kid: undefined }))],
    [`${what} with the valid key`, withHeader(changes)],
  ]),
);

export const KEYS_AND_ALGORITHMS: Forgeries = {
  ...unsigned,
  ...confused,
  ...otherAlgorithms,
  ...otherKeys,
  ...embeddedKeys,
};

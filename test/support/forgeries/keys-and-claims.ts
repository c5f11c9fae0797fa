import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import {
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
  shown,
  thumbprint,
  withClaims,
  withHeader,
} from './forge.ts';

/** CVE-2015-9235: "no signature" as an algorithm. */
const unsigned: Forgeries = {
  ...each(['none', 'None', 'NONE', ''], (alg) => [
    `alg "${alg}" without a signature`,
    (m) => compact({ ...m.header, alg }, m.claims, () => Buffer.alloc(0)),
  ]),
  ...each(['none', ''], (alg) => [
    `alg "${alg}" with the valid signature`,
    (m) => `${encoded({ ...m.header, alg })}.${partsOf(m.token).slice(1).join('.')}`,
  ]),
  'the algs "ES256" and "none"': ({ header, claims }) =>
    `${encoded(`${JSON.stringify(header).slice(0, -1)},"alg":"none"}`)}.${encoded(claims)}.`,
  ...each([undefined, 'none', 'es256', ['ES256']], (alg) => [`alg ${shown(alg)}, signed`, withHeader({ alg })]),
};

const SECRETS: Readonly<Record<string, (key: KeyObject) => string | Buffer>> = {
  PEM: (key) => key.export({ format: 'pem', type: 'spki' }).toString(),
  'PEM without the last line break': (key) => key.export({ format: 'pem', type: 'spki' }).toString().trimEnd(),
  DER: (key) => key.export({ format: 'der', type: 'spki' }),
  JWK: (key) => JSON.stringify(key.export({ format: 'jwk' })),
  'bare point': (key) => key.export({ format: 'der', type: 'spki' }).subarray(-65),
};

/** CVE-2016-5431: the public key as the secret of an HMAC. */
const confused: Forgeries = each(
  Object.entries(SECRETS).flatMap(([form, secretOf]) =>
    (['HS256', 'HS384', 'HS512', 'ES256'] as const).map((alg) => ({ form, secretOf, alg })),
  ),
  ({ form, secretOf, alg }) => [
    `alg ${alg} with the public key as its secret: ${form}`,
    (m) => compact({ ...m.header, alg }, m.claims, hmac(secretOf(publicKeyOf(m.pair)), `sha${alg.slice(2)}`)),
  ],
);

const onCurve = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;
const ed25519 = generateKeyPairSync('ed25519').privateKey;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

const ALGORITHMS: Readonly<Record<string, Signer>> = {
  ES384: ecdsa(onCurve('P-384'), 'sha384'),
  ES512: ecdsa(onCurve('P-521'), 'sha512'),
  ES256K: ecdsa(onCurve('secp256k1')),
  EdDSA: (input) => sign(null, input, ed25519),
  RS256: (input) => sign('sha256', input, rsa),
};

const otherAlgorithms: Forgeries = Object.assign(
  {},
  ...Object.entries(ALGORITHMS).map(
    ([alg, signer]): Forgeries => ({
      [`a key of ${alg}`]: (m) => compact({ ...m.header, alg }, m.claims, signer),
      [`a key of ${alg} with the alg ES256`]: (m) => compact(m.header, m.claims, signer),
      [`alg ${alg} with the valid key`]: withHeader({ alg }),
    }),
  ),
);

const byAttacker =
  (changes: (material: Material) => Json = () => ({})): Forge =>
  (m) =>
    compact({ ...m.header, ...changes(m) }, m.claims, ecdsa(m.attacker.privateKey));
const byOtherPair =
  (changes: (material: Material) => Json = () => ({})): Forge =>
  (m) =>
    compact({ ...m.header, ...changes(m) }, m.claims, ecdsa(m.otherPair.privateKey));

const jwkOf = ({ attacker }: Material) => ({ ...publicKeyOf(attacker).export({ format: 'jwk' }), alg: 'ES256' });
const derOf = ({ attacker }: Material) => publicKeyOf(attacker).export({ format: 'der', type: 'spki' });

/** Members of the header that contain or locate a key (CVE-2018-0114), and none. */
const KEY_MEMBERS: Readonly<Record<string, (material: Material) => Json>> = {
  nothing: () => ({}),
  'a jwk': (m) => ({ jwk: jwkOf(m) }),
  'a private jwk': (m) => ({ jwk: m.attacker.privateKey.export({ format: 'jwk' }) }),
  'a jku': (m) => ({ jku: `${m.attackerUrl}/jwks.json` }),
  'an x5u': (m) => ({ x5u: `${m.attackerUrl}/chain.pem` }),
  'an x5c': (m) => ({ x5c: [derOf(m).toString('base64')] }),
  'an x5t': (m) => ({ 'x5t#S256': encoded(thumbprint(m.attacker)) }),
};

const otherKeys: Forgeries = {
  'the key of the other kind with the valid kid': byOtherPair(),
  'the key of the other kind with its own kid': byOtherPair((m) => ({ kid: thumbprint(m.otherPair) })),
  ...Object.assign(
    {},
    ...Object.entries(KEY_MEMBERS).map(
      ([what, changes]): Forgeries => ({
        [`another key with ${what} and the valid kid`]: byAttacker(changes),
        [`another key with ${what} and its own kid`]: byAttacker((m) => ({
          ...changes(m),
          kid: thumbprint(m.attacker),
        })),
        [`another key with ${what} and no kid`]: byAttacker((m) => ({ ...changes(m), kid: undefined })),
      }),
    ),
  ),
};

export const KEYS_AND_ALGORITHMS: Forgeries = { ...unsigned, ...confused, ...otherAlgorithms, ...otherKeys };

const INVALID_TIMES: readonly unknown[] = [undefined, null, true, [], {}, '', 'NaN', -1, 2 ** 53, 1e308];
export const INVALID_IDS: readonly unknown[] = [undefined, null, 7, true, [], {}, '', 'x', '\0', "' OR '1'='1"];

/** Claims with one value replaced by raw JSON that `JSON.stringify` cannot write. */
const withRaw =
  (claim: string, raw: string): Forge =>
  ({ header, claims, pair }) =>
    compact(header, JSON.stringify({ ...claims, [claim]: '@' }).replace('"@"', raw), ecdsa(pair.privateKey));

const time = (claim: string): Forgeries => ({
  ...each(INVALID_TIMES, (value) => [`${claim} ${shown(value)}`, withClaims({ [claim]: value })]),
  [`${claim} as a string`]: withClaims(({ claims }) => ({ [claim]: String(claims[claim]) })),
  [`${claim} in a list`]: withClaims(({ claims }) => ({ [claim]: [claims[claim]] })),
  [`${claim} with half a second`]: withClaims(({ claims }) => ({ [claim]: Number(claims[claim]) + 0.5 })),
  [`${claim} in milliseconds`]: withClaims(({ claims }) => ({ [claim]: Number(claims[claim]) * 1000 })),
  [`${claim} of infinite size`]: withRaw(claim, '1e999'),
});

const id = (claim: string): Forgeries => ({
  ...each(INVALID_IDS, (value) => [`${claim} ${shown(value)}`, withClaims({ [claim]: value })]),
  [`${claim} in a list`]: withClaims(({ claims }) => ({ [claim]: [claims[claim]] })),
  [`${claim} with an additional character`]: withClaims(({ claims }) => ({ [claim]: `${claims[claim]}0` })),
});

export const CLAIMS: Forgeries = {
  ...time('exp'),
  ...time('iat'),
  ...id('sub'),
  ...id('jti'),
  'the valid token of the other kind': ({ otherToken }) => otherToken,
  'the tokenType of the other kind': withClaims(({ kind }) => ({
    tokenType: kind === 'access' ? 'refresh' : 'access',
  })),
  ...each([undefined, null, true, '', 'ACCESS', 'Refresh', 'access ', ['access', 'refresh']], (value) => [
    `tokenType ${shown(value)}`,
    withClaims({ tokenType: value }),
  ]),
  'an exp in the past': withClaims(({ claims }) => ({ exp: Number(claims.iat) - 1 })),
  'an nbf in the future': withClaims(({ claims }) => ({ nbf: Number(claims.exp) })),
  ...each<Json>(
    [{ nbf: 'soon' }, { iss: 'x' }, { aud: [] }, { admin: true }, { constructor: {} }, { scope: '*' }],
    (more) => [`a claim more: ${shown(more)}`, withClaims(more)],
  ),
  'a claim more: __proto__': ({ header, claims, pair }) =>
    compact(header, JSON.stringify(claims).replace('{', '{"__proto__":{"x":1},'), ecdsa(pair.privateKey)),
  ...each(['', '{', 'null', '[]', '{}', '"text"', '\0', '['.repeat(2_000)], (text) => [
    `a payload that is ${shown(text.slice(0, 10))}`,
    (m) => compact(m.header, text, ecdsa(m.pair.privateKey)),
  ]),
};

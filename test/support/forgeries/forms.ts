import { sign } from 'node:crypto';
import {
  compact,
  each,
  ecdsa,
  encoded,
  type Forge,
  type Forgeries,
  type Json,
  type Material,
  partsOf,
} from './forge.ts';

type Parts = readonly [header: string, payload: string, signature: string];

/** A valid token, written in another way. */
const reshaped =
  (reshape: (parts: Parts) => string): Forge =>
  ({ token }) =>
    reshape(partsOf(token));

const signed = (m: Material, header: Json, payload: unknown, key = m.pair.privateKey) =>
  compact({ ...m.header, ...header }, payload, ecdsa(key));

/** A valid token whose signature contains a character that differs between base64 and base64url. */
const withSpecialCharacter = (m: Material): string => {
  for (;;) {
    const token = signed(m, {}, m.claims);
    if (/[-_]/.test(partsOf(token)[2])) return token;
  }
};

export const FORMS: Forgeries = {
  // Other serializations: RFC 7515 §7.2, RFC 7516 §7.1.
  'the flattened JSON serialization': reshaped(([protectedHeader, payload, signature]) =>
    JSON.stringify({ protected: protectedHeader, payload, signature }),
  ),
  'the general JSON serialization': reshaped(([protectedHeader, payload, signature]) =>
    JSON.stringify({ payload, signatures: [{ protected: protectedHeader, signature }] }),
  ),
  'a detached payload': reshaped(([header, , signature]) => `${header}..${signature}`),
  'the parts of a JWE': reshaped((all) => [...all, all[1], all[2]].join('.')),
  'a JWE in the direct mode': ({ claims }) =>
    [encoded({ alg: 'dir', enc: 'A256GCM' }), '', encoded('iv'), encoded(claims), encoded('tag')].join('.'),

  // A token inside a token: RFC 7519 §5.2.
  'the valid token in a token with a valid signature': (m) => signed(m, { cty: 'JWT' }, m.token),
  'the valid token in a token signed by an attacker': (m) => signed(m, { cty: 'JWT' }, m.token, m.attacker.privateKey),
  'the valid token as a JSON string': (m) => signed(m, {}, JSON.stringify(m.token)),

  'one part': reshaped(([header]) => header),
  'two parts': reshaped(([header, payload]) => `${header}.${payload}`),
  'two parts and a dot': reshaped(([header, payload]) => `${header}.${payload}.`),
  'four parts': reshaped((all) => `${all.join('.')}.${all[2]}`),
  'a trailing dot': reshaped((all) => `${all.join('.')}.`),
  'a leading dot': reshaped((all) => `.${all.join('.')}`),
  'only dots': () => '..',
  'the parts in another order': reshaped(([header, payload, signature]) => `${payload}.${header}.${signature}`),

  'trailing padding': reshaped((all) => `${all.join('.')}==`),
  'the alphabet of base64 instead of base64url': (m) =>
    withSpecialCharacter(m).replaceAll('-', '+').replaceAll('_', '/'),
  'changed unused bits of the last character': reshaped(([header, payload, signature]) => {
    const next = { A: 'B', Q: 'R', g: 'h', w: 'x' }[signature.at(-1) ?? ''];
    return `${header}.${payload}.${signature.slice(0, -1)}${next}`;
  }),
  'percent-encoded dots': reshaped((all) => all.join('%2E')),
  'another letter case': ({ token }) => token.toLowerCase(),
  'quotation marks around': ({ token }) => `"${token}"`,
  'a space in the token': reshaped(([header, payload, signature]) => `${header}.${payload}. ${signature}`),
  'a repeated scheme': ({ token }) => `Bearer ${token}`,
  'two tokens': ({ token }) => `${token},${token}`,
  'a token of 8193 characters': reshaped(
    ([header, payload, signature]) =>
      `${header}.${payload.padEnd(8_193 - header.length - signature.length - 2, 'A')}.${signature}`,
  ),
};

/** The order of the group of P-256 (SEC 2 §2.4.2). */
const N = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');
const NUMBERS: Readonly<Record<string, Buffer>> = {
  zero: Buffer.alloc(32),
  one: Buffer.concat([Buffer.alloc(31), Buffer.from([1])]),
  'the order': N,
  'above the order': Buffer.alloc(32, 0xff),
};

/** A token with its valid signature changed. */
const changed =
  (change: (r: Buffer, s: Buffer) => readonly Uint8Array[]): Forge =>
  ({ token }) => {
    const [header, payload, text] = partsOf(token);
    const signature = Buffer.from(text, 'base64url');
    const changes = Buffer.concat(change(signature.subarray(0, 32), signature.subarray(32)));
    return `${header}.${payload}.${changes.toString('base64url')}`;
  };

/** Another header or other claims under the valid signature. */
const underValidSignature =
  (header: Json, claims: Json): Forge =>
  (m) =>
    `${encoded({ ...m.header, ...header })}.${encoded({ ...m.claims, ...claims })}.${partsOf(m.token)[2]}`;

const OTHER_ID = '01J00000000000000000000009';

export const SIGNATURES: Forgeries = {
  // CVE-2022-21449: numbers that satisfy the equation when their range is not checked.
  ...each(Object.entries(NUMBERS), ([name, number]) => [`r is ${name}`, changed((_r, s) => [number, s])]),
  ...each(Object.entries(NUMBERS), ([name, number]) => [`s is ${name}`, changed((r) => [r, number])]),
  ...each(Object.entries(NUMBERS), ([name, number]) => [`r and s are ${name}`, changed(() => [number, number])]),
  ...each([0, 1, 32, 63, 65, 96, 1_000], (length) => [
    `a signature of ${length} bytes`,
    changed((r, s) => [Buffer.concat([r, s, Buffer.alloc(length)]).subarray(0, length)]),
  ]),
  'a signature with a leading zero': changed((r, s) => [Buffer.alloc(1), r, s]),
  'a repeated signature': changed((r, s) => [r, s, r, s]),
  'r and s swapped': changed((r, s) => [s, r]),
  'a signature with one bit changed': changed((r, s) => [r, s.map((byte, at) => (at === 8 ? byte ^ 1 : byte))]),
  'a signature in DER': (m) => compact(m.header, m.claims, (input) => sign('sha256', input, m.pair.privateKey)),
  'a signature in hex': reshaped(
    ([header, payload, signature]) => `${header}.${payload}.${Buffer.from(signature, 'base64url').toString('hex')}`,
  ),
  'a signature over another hash': (m) => compact(m.header, m.claims, ecdsa(m.pair.privateKey, 'sha512')),
  'a signature over the payload alone': (m) =>
    compact(m.header, m.claims, (input) => ecdsa(m.pair.privateKey)(Buffer.from(String(input).split('.')[1] ?? ''))),
  'the signature of another token of the same user': (m) =>
    [...partsOf(m.token).slice(0, 2), partsOf(m.otherToken)[2]].join('.'),
  'random bytes': (m) => compact(m.header, m.claims, () => Buffer.from('Zufall!?'.repeat(8))),
  ...each([{ sub: OTHER_ID }, { exp: 9_999_999_999 }, { jti: OTHER_ID }], (claims) => [
    `other claims under the valid signature: ${Object.keys(claims)}`,
    underValidSignature({}, claims),
  ]),
  ...each([{ sid: OTHER_ID }, { rot: 1_000 }, { typ: 'jwt' }], (header) => [
    `another header under the valid signature: ${Object.keys(header)}`,
    underValidSignature(header, {}),
  ]),
};

/** The second valid signature of the same claims that anybody can compute (malleability of ECDSA): (r, n − s). */
export const mirrored: Forge = changed((r, s) => {
  const mirror = BigInt(`0x${N.toString('hex')}`) - BigInt(`0x${s.toString('hex')}`);
  return [r, Buffer.from(mirror.toString(16).padStart(64, '0'), 'hex')];
});

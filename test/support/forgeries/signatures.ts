import { sign } from 'node:crypto';
import { bytes, compact, each, ecdsa, encoded, type Forge, type Forgeries, type Json, partsOf } from './forge.ts';

/** The order of the group of P-256 (SEC 2 §2.4.2). */
const N = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');
const ZERO = Buffer.alloc(32);
const ONE = Buffer.concat([Buffer.alloc(31), Buffer.from([1])]);
const ALL_ONES = Buffer.alloc(32, 0xff);

/** A token with its valid signature changed. */
const changed =
  (change: (signature: Buffer) => Buffer): Forge =>
  ({ token }) => {
    const [header, payload, signature] = partsOf(token);
    return `${header}.${payload}.${change(Buffer.from(signature, 'base64url')).toString('base64url')}`;
  };

const r = (signature: Buffer) => signature.subarray(0, 32);
const s = (signature: Buffer) => signature.subarray(32);

/** CVE-2022-21449 and similar faults: numbers that satisfy the equation when their range is not checked. */
const numbers: Forgeries = Object.fromEntries(
  Object.entries({ zero: ZERO, one: ONE, 'the order': N, 'above the order': ALL_ONES }).flatMap(
    ([name, number]): [string, Forge][] => [
      [`r is ${name}`, changed((signature) => Buffer.concat([number, s(signature)]))],
      [`s is ${name}`, changed((signature) => Buffer.concat([r(signature), number]))],
      [`r and s are ${name}`, changed(() => Buffer.concat([number, number]))],
    ],
  ),
);

const lengths: Forgeries = {
  'an empty signature': changed(() => Buffer.alloc(0)),
  ...each(
    [1, 32, 63, 65, 96, 128, 1_000],
    (length) => `a signature of ${length} bytes`,
    (length) => changed((signature) => Buffer.concat([signature, Buffer.alloc(length)]).subarray(0, length)),
  ),
  'a signature with a leading zero': changed((signature) => Buffer.concat([Buffer.alloc(1), signature])),
  'a repeated signature': changed((signature) => Buffer.concat([signature, signature])),
  'a signature in DER': (m) => compact(m.header, m.claims, (input) => sign('sha256', input, m.pair.privateKey)),
  'a signature in hex': (m) => {
    const [header, payload, signature] = partsOf(m.token);
    return `${header}.${payload}.${Buffer.from(signature, 'base64url').toString('hex')}`;
  },
  'r and s swapped': changed((signature) => Buffer.concat([s(signature), r(signature)])),
  'a signature with one bit changed': changed((signature) => {
    const copy = Buffer.from(signature);
    copy[40] = (copy[40] ?? 0) ^ 1;
    return copy;
  }),
  'a signature over another hash': (m) => compact(m.header, m.claims, ecdsa(m.pair.privateKey, 'sha512')),
  'a signature over the payload alone': (m) =>
    compact(m.header, m.claims, (input) => ecdsa(m.pair.privateKey)(Buffer.from(String(input).split('.')[1] ?? ''))),
  'the signature of another token of the same user': (m) => {
    const [header, payload] = partsOf(m.token);
    return `${header}.${payload}.${partsOf(m.otherToken)[2]}`;
  },
};

/** Changed claims or a changed header with the valid signature. */
const withValidSignature =
  (change: { readonly header?: Json; readonly claims?: Json }): Forge =>
  (m) => {
    const header = encoded({ ...m.header, ...change.header });
    const payload = encoded({ ...m.claims, ...change.claims });
    return `${header}.${payload}.${partsOf(m.token)[2]}`;
  };

const contents: Forgeries = {
  'another sub with the valid signature': withValidSignature({ claims: { sub: '01J00000000000000000000009' } }),
  'a later exp with the valid signature': withValidSignature({ claims: { exp: 9_999_999_999 } }),
  'another jti with the valid signature': withValidSignature({ claims: { jti: '01J00000000000000000000009' } }),
  'another tokenType with the valid signature': ({ kind, ...m }) =>
    withValidSignature({ claims: { tokenType: kind === 'access' ? 'refresh' : 'access' } })({ kind, ...m }),
  'another sid with the valid signature': withValidSignature({ header: { sid: '01J00000000000000000000009' } }),
  'another rot with the valid signature': withValidSignature({ header: { rot: 1_000 } }),
  'another typ with the valid signature': withValidSignature({ header: { typ: 'jwt' } }),
  'claims in another order with the valid signature': (m) => {
    const payload = encoded(Object.fromEntries(Object.entries(m.claims).reverse()));
    return `${partsOf(m.token)[0]}.${payload}.${partsOf(m.token)[2]}`;
  },
};

export const SIGNATURES: Forgeries = {
  ...numbers,
  ...lengths,
  ...contents,
  'sixty-four random bytes': (m) => compact(m.header, m.claims, bytes(Buffer.from('Zufall!?'.repeat(8)))),
};

/** The second valid signature of the same claims that anybody can compute (malleability of ECDSA): (r, n − s). */
export const mirrored: Forge = changed((signature) => {
  const mirror = BigInt(`0x${N.toString('hex')}`) - BigInt(`0x${s(signature).toString('hex')}`);
  return Buffer.concat([r(signature), Buffer.from(mirror.toString(16).padStart(64, '0'), 'hex')]);
});

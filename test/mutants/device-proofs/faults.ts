import { createPublicKey, hash } from 'node:crypto';
import { hmac } from '../../support/forgeries/forge.ts';
import { CORRECT, INVALID, type Jwk, type Steps, withoutScheme } from './steps.ts';

/** The steps that are wrong, and the title of the test that has to catch it. */
type Fault = { readonly wrong: Partial<Steps>; readonly caughtBy: string };

const RETURNS =
  'returns the thumbprint of the key, also of a proof of another time, and the same number for the same proof';
const NUMBERS = 'gives other proofs of a key other numbers, and proofs of a later second greater ones';
const TARGET = 'rejects a proof for another method, host or path';
const TIME = 'accepts a proof of up to a minute before or after its clock, and calls others untimely';
const ALL_ELSE = 'calls a proof untimely only if all else is right';
const CHANGED = 'rejects a proof that was changed in any part';
const SIGNED = 'rejects a proof that is signed with another key or algorithm, or not at all';
const KEY = 'rejects a key that is private, of another curve, or no point of the curve';
const MEMBERS = 'rejects a header or claims with unknown, missing or duplicate members';
const TEXT = 'rejects a text that is not a proof';

const onlyOneKey = createPublicKey({
  key: {
    kty: 'EC',
    crv: 'P-256',
    x: 'l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs',
    y: '9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA',
  },
  format: 'jwk',
});
const has = (names: readonly string[]) => (given: object) => names.every((name) => name in given);

export const FAULTS: Readonly<Record<string, Fault>> = {
  'computes the thumbprint of the key as it is written': {
    wrong: { thumbprint: (jwk) => hash('sha256', JSON.stringify(jwk), 'base64url') },
    caughtBy: RETURNS,
  },
  'returns a thumbprint of the half of a key': {
    wrong: { thumbprint: ({ x }) => hash('sha256', x, 'base64url') },
    caughtBy: RETURNS,
  },
  'keeps the key of a proof of another time to itself': {
    wrong: { untimely: () => ({ ok: false, reason: 'untimely', key: '' }) },
    caughtBy: RETURNS,
  },
  'numbers proofs by their texts': {
    wrong: { number: ({ iat }, text) => iat * 2 ** 21 + (hash('sha256', text, 'buffer').readUInt32BE() % 2 ** 21) },
    caughtBy: RETURNS,
  },
  'gives all proofs of one second one number': {
    wrong: { number: ({ iat }) => iat },
    caughtBy: NUMBERS,
  },
  'numbers proofs by their ids alone': {
    wrong: { number: ({ jti }) => hash('sha256', jti, 'buffer').readUInt32BE() },
    caughtBy: NUMBERS,
  },
  'gives numbers that a double does not hold': {
    wrong: { number: ({ iat, jti }) => iat * 2 ** 32 + hash('sha256', jti, 'buffer').readUInt32BE() },
    caughtBy: NUMBERS,
  },
  'ignores the method': {
    wrong: { target: (claims, target) => CORRECT.target({ ...claims, htm: target.method }, target) },
    caughtBy: TARGET,
  },
  'takes a method in any letter case': {
    wrong: { target: (claims, target) => CORRECT.target({ ...claims, htm: String(claims.htm).toUpperCase() }, target) },
    caughtBy: TARGET,
  },
  'ignores the address': {
    wrong: { target: ({ htm, htu }, { method, urls }) => htm === method && URL.canParse(htu) && urls.length > 0 },
    caughtBy: TARGET,
  },
  'compares the path alone': {
    wrong: {
      target: ({ htm, htu }, { method, urls }) =>
        htm === method && urls.some((url) => new URL(url).pathname === new URL(htu).pathname),
    },
    caughtBy: TARGET,
  },
  'compares the host alone': {
    wrong: {
      target: ({ htm, htu }, { method, urls }) =>
        htm === method && urls.some((url) => new URL(url).host === new URL(htu).host),
    },
    caughtBy: TARGET,
  },
  'compares the beginning of the address': {
    wrong: {
      target: ({ htm, htu }, { method, urls }) =>
        htm === method && urls.some((url) => withoutScheme(htu).startsWith(withoutScheme(url))),
    },
    caughtBy: TARGET,
  },
  'compares the scheme, which a proxy may change': {
    wrong: { target: ({ htm, htu }, { method, urls }) => htm === method && urls.includes(htu) },
    caughtBy: TARGET,
  },
  'knows one address only': {
    wrong: { target: (claims, { method, urls }) => CORRECT.target(claims, { method, urls: urls.slice(0, 1) }) },
    caughtBy: TARGET,
  },
  'accepts a proof a second longer': {
    wrong: { isTimely: (now, { iat }) => Math.abs(now - iat * 1_000) <= 61_000 },
    caughtBy: TIME,
  },
  'accepts a proof less than a minute': {
    wrong: { isTimely: (now, { iat }) => Math.abs(now - iat * 1_000) < 60_000 },
    caughtBy: TIME,
  },
  'accepts a proof of any later time': {
    wrong: { isTimely: (now, { iat }) => now - iat * 1_000 <= 60_000 },
    caughtBy: TIME,
  },
  'calls a proof of another time invalid': { wrong: { untimely: () => INVALID }, caughtBy: TIME },
  'looks at the time before the signature': {
    wrong: {
      signature: (signed, signature, key, header, timely) =>
        !timely || CORRECT.signature(signed, signature, key, header, timely),
    },
    caughtBy: ALL_ELSE,
  },
  'accepts unused bits in a part': {
    wrong: { read: (part) => JSON.parse(Buffer.from(part, 'base64url').toString()) },
    caughtBy: CHANGED,
  },
  'accepts unused bits in the signature': {
    wrong: { form: (text) => text.length <= 2_048 && /^[\w-]+\.[\w-]+\.[\w-]{86}$/.test(text) },
    caughtBy: CHANGED,
  },
  'does not verify the signature': { wrong: { signature: () => true }, caughtBy: SIGNED },
  'verifies with a key of its own': {
    wrong: {
      signature: (signed, signature, _key, header, timely) =>
        CORRECT.signature(signed, signature, onlyOneKey, header, timely),
    },
    caughtBy: RETURNS,
  },
  'accepts what is not signed': {
    wrong: {
      header: ({ alg, ...header }) => CORRECT.header({ ...header, alg: alg === 'none' ? 'ES256' : alg }),
      signature: (signed, signature, key, header, timely) =>
        header.alg === 'none' || CORRECT.signature(signed, signature, key, header, timely),
    },
    caughtBy: SIGNED,
  },
  'takes the public key for a secret': {
    wrong: {
      form: (text) => text.length <= 2_048,
      header: ({ alg, ...header }) => CORRECT.header({ ...header, alg: alg === 'HS256' ? 'ES256' : alg }),
      signature: (signed, signature, key, header, timely) =>
        header.alg === 'HS256'
          ? hmac(key.export({ format: 'der', type: 'spki' }))(Buffer.from(signed)).toString('base64url') === signature
          : CORRECT.signature(signed, signature, key, header, timely),
    },
    caughtBy: SIGNED,
  },
  'ignores the algorithm': {
    wrong: { header: (header) => CORRECT.header({ ...header, alg: 'ES256' }) },
    caughtBy: SIGNED,
  },
  'accepts a private key': {
    wrong: { jwk: ({ d: _, ...jwk }: Jwk & { d?: string }) => CORRECT.jwk(jwk) },
    caughtBy: KEY,
  },
  'reads a coordinate in any form': {
    wrong: { jwk: (jwk) => Object.keys(jwk).sort().join() === 'crv,kty,x,y' },
    caughtBy: KEY,
  },
  'accepts what is no point of the curve': {
    wrong: {
      key: (jwk) => {
        try {
          return CORRECT.key(jwk);
        } catch {
          return onlyOneKey;
        }
      },
      signature: (signed, signature, key, header, timely) =>
        key === onlyOneKey || CORRECT.signature(signed, signature, key, header, timely),
    },
    caughtBy: KEY,
  },
  'accepts further members of the header': {
    wrong: { header: (header) => CORRECT.header({ typ: header.typ, alg: header.alg, jwk: header.jwk }) },
    caughtBy: MEMBERS,
  },
  'accepts further members of the claims': {
    wrong: { claims: ({ htm, htu, iat, jti }) => CORRECT.claims({ htm, htu, iat, jti }) },
    caughtBy: MEMBERS,
  },
  'accepts another type': {
    wrong: { header: (header) => has(['typ', 'alg', 'jwk'])(header) && header.alg === 'ES256' },
    caughtBy: MEMBERS,
  },
  'accepts a header without a type': {
    wrong: { header: (header) => CORRECT.header(Object.assign({ typ: 'dpop+jwt' }, header)) },
    caughtBy: MEMBERS,
  },
  'takes the last of two members': {
    wrong: {
      read: (part) => {
        const text = Buffer.from(part, 'base64url').toString();
        if (Buffer.from(text).toString('base64url') !== part) throw new Error('another form');
        return JSON.parse(text);
      },
    },
    caughtBy: MEMBERS,
  },
  'accepts a fraction of a second': {
    wrong: {
      claims: (claims) =>
        typeof claims.iat === 'number' && CORRECT.claims({ ...claims, iat: Math.abs(Math.floor(claims.iat)) }),
    },
    caughtBy: MEMBERS,
  },
  'accepts any id': {
    wrong: { claims: (claims) => CORRECT.claims({ ...claims, jti: 'a-jti-0123456789' }), number: ({ iat }) => iat },
    caughtBy: MEMBERS,
  },
  'accepts a text of any length': {
    wrong: { form: (text) => /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/.test(text), target: () => true },
    caughtBy: TEXT,
  },
  'ignores what follows': {
    wrong: { form: (text) => text.length <= 4_096 },
    caughtBy: TEXT,
  },
  'rejects by an exception': {
    wrong: {
      thrown: () => {
        throw new TypeError('no JSON');
      },
    },
    caughtBy: MEMBERS,
  },
};

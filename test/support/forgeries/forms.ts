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

/** Genuine parts in another serialization: RFC 7515 §7.2. */
const serializations: Forgeries = {
  'the flattened JSON serialization': ({ token }) => {
    const [header, payload, signature] = partsOf(token);
    return JSON.stringify({ protected: header, payload, signature });
  },
  'the general JSON serialization': ({ token }) => {
    const [header, payload, signature] = partsOf(token);
    return JSON.stringify({ payload, signatures: [{ protected: header, signature }] });
  },
  'the flattened JSON serialization in base64url': ({ token }) => {
    const [header, payload, signature] = partsOf(token);
    return encoded({ protected: header, payload, signature });
  },
  'a detached payload': ({ token }) => `${partsOf(token)[0]}..${partsOf(token)[2]}`,
  'the parts of a JWE': ({ token }) => {
    const [header, payload, signature] = partsOf(token);
    return [header, payload, signature, payload, signature].join('.');
  },
  'a JWE in the direct mode': ({ claims }) =>
    [encoded({ alg: 'dir', enc: 'A256GCM' }), '', encoded('iv'), encoded(claims), encoded('tag')].join('.'),
};

const signed = (m: Material, header: Json, payload: unknown, key = m.pair.privateKey) =>
  compact({ ...m.header, ...header }, payload, ecdsa(key));

/** A token inside a token: RFC 7519 §5.2. */
const nested: Forgeries = {
  'the genuine token in a genuine signature': (m) => signed(m, { cty: 'JWT' }, m.token),
  'the genuine token in a genuine signature, without cty': (m) => signed(m, {}, m.token),
  "the genuine token in a stranger's signature": (m) => signed(m, { cty: 'JWT' }, m.token, m.stranger.privateKey),
  'the genuine token as a text': (m) => signed(m, {}, JSON.stringify(m.token)),
};

const reshaped =
  (reshape: (parts: readonly [string, string, string]) => string): Forge =>
  ({ token }) =>
    reshape(partsOf(token));

const parts: Forgeries = {
  'one part': reshaped(([header]) => header),
  'two parts': reshaped(([header, payload]) => `${header}.${payload}`),
  'two parts and a dot': reshaped(([header, payload]) => `${header}.${payload}.`),
  'four parts': reshaped(([header, payload, signature]) => `${header}.${payload}.${signature}.${signature}`),
  'a dot behind': reshaped((all) => `${all.join('.')}.`),
  'a dot before': reshaped((all) => `.${all.join('.')}`),
  'dots alone': () => '..',
  'the parts in another order': reshaped(([header, payload, signature]) => `${payload}.${header}.${signature}`),
};

/** A genuine token whose signature has a character that the two alphabets of base64 write differently. */
const withSpecialCharacter = (m: Material): string => {
  for (;;) {
    const token = signed(m, {}, m.claims);
    if (/[-_]/.test(partsOf(token)[2])) return token;
  }
};

const spellings: Forgeries = {
  'padding behind': reshaped((all) => `${all.join('.')}==`),
  'padding behind every part': reshaped((all) => all.map((part) => `${part}=`).join('.')),
  'the alphabet of base64 that is not for URLs': (m) =>
    withSpecialCharacter(m).replaceAll('-', '+').replaceAll('_', '/'),
  'spare bits of the last character': reshaped(([header, payload, signature]) => {
    const next = { A: 'B', Q: 'R', g: 'h', w: 'x' }[signature.at(-1) ?? ''];
    return `${header}.${payload}.${signature.slice(0, -1)}${next}`;
  }),
  'dots that are encoded': reshaped((all) => all.join('%2E')),
  'the whole in base64url': ({ token }) => encoded(token),
  'other letter case': ({ token }) => token.toLowerCase(),
  'quotation marks around': ({ token }) => `"${token}"`,
  'a space within': reshaped(([header, payload, signature]) => `${header}.${payload}. ${signature}`),
  'the scheme once more': ({ token }) => `Bearer ${token}`,
  'two tokens': ({ token }) => `${token},${token}`,
};

const lengths: Forgeries = each(
  [8_193, 12_000],
  (length) => `a token of ${length} characters`,
  (length) => (m) => {
    const [header, payload, signature] = partsOf(m.token);
    return `${header}.${payload.padEnd(length - header.length - signature.length - 2, 'A')}.${signature}`;
  },
);

export const FORMS: Forgeries = { ...serializations, ...nested, ...parts, ...spellings, ...lengths };

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

/** Valid parts in another serialization: RFC 7515 §7.2. */
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
  'the valid token in a token with a valid signature': (m) => signed(m, { cty: 'JWT' }, m.token),
  'the valid token in a token with a valid signature, without cty': (m) => signed(m, {}, m.token),
  'the valid token in a token signed by an attacker': (m) => signed(m, { cty: 'JWT' }, m.token, m.attacker.privateKey),
  'the valid token as a JSON string': (m) => signed(m, {}, JSON.stringify(m.token)),
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
  'a trailing dot': reshaped((all) => `${all.join('.')}.`),
  'a leading dot': reshaped((all) => `.${all.join('.')}`),
  'only dots': () => '..',
  'the parts in another order': reshaped(([header, payload, signature]) => `${payload}.${header}.${signature}`),
};

/** A valid token whose signature contains a character that differs between base64 and base64url. */
const withSpecialCharacter = (m: Material): string => {
  for (;;) {
    const token = signed(m, {}, m.claims);
    if (/[-_]/.test(partsOf(token)[2])) return token;
  }
};

const spellings: Forgeries = {
  'trailing padding': reshaped((all) => `${all.join('.')}==`),
  'padding after every part': reshaped((all) => all.map((part) => `${part}=`).join('.')),
  'the alphabet of base64 instead of base64url': (m) =>
    withSpecialCharacter(m).replaceAll('-', '+').replaceAll('_', '/'),
  'changed unused bits of the last character': reshaped(([header, payload, signature]) => {
    const next = { A: 'B', Q: 'R', g: 'h', w: 'x' }[signature.at(-1) ?? ''];
    return `${header}.${payload}.${signature.slice(0, -1)}${next}`;
  }),
  'percent-encoded dots': reshaped((all) => all.join('%2E')),
  'the whole token in base64url': ({ token }) => encoded(token),
  'another letter case': ({ token }) => token.toLowerCase(),
  'quotation marks around': ({ token }) => `"${token}"`,
  'a space in the token': reshaped(([header, payload, signature]) => `${header}.${payload}. ${signature}`),
  'a repeated scheme': ({ token }) => `Bearer ${token}`,
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

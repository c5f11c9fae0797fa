import { compact, each, ecdsa, encoded, type Forgeries, hmac, type Json, withHeader } from './forge.ts';

/** Key ids that must not match a key, a file or a query. */
const KIDS: readonly unknown[] = [
  undefined,
  null,
  7,
  true,
  [],
  {},
  '',
  '0',
  '../../dev/null',
  '/dev/null',
  'file:///dev/null',
  "' OR '1'='1",
  "x'; DROP TABLE sessions; --",
  '$(id)',
  '\0',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
];

const shown = (value: unknown): string => JSON.stringify(value) ?? 'missing';

const kids: Forgeries = {
  ...each(
    KIDS,
    (kid) => `kid ${shown(kid)} under the valid key`,
    (kid) => withHeader({ kid }),
  ),
  ...each(
    KIDS,
    (kid) => `kid ${shown(kid)} under an empty secret`,
    (kid) => (m) => compact({ ...m.header, alg: 'HS512', kid }, m.claims, hmac('', 'sha512')),
  ),
  ...each(
    KIDS,
    (kid) => `kid ${shown(kid)} under another key`,
    (kid) => (m) => compact({ ...m.header, kid }, m.claims, ecdsa(m.attacker.privateKey)),
  ),
  'the valid kid in a list': withHeader(({ header }) => ({ kid: [header.kid] })),
  'the valid kid in an object': withHeader(({ header }) => ({ kid: { toString: header.kid } })),
  'the valid kid in lower case': withHeader(({ header }) => ({ kid: `${header.kid}`.toLowerCase() })),
  'the valid kid and a NUL': withHeader(({ header }) => ({ kid: `${header.kid}\0` })),
  'the valid kid and a space': withHeader(({ header }) => ({ kid: ` ${header.kid}` })),
};

const EXTENSIONS: readonly Json[] = [
  { crit: ['unheard-of'], 'unheard-of': 1 },
  { crit: ['unheard-of'] },
  { crit: ['exp'], exp: 9_999_999_999 },
  { crit: ['b64'], b64: true },
  { crit: ['b64'], b64: false },
  { crit: ['kid'] },
  { crit: ['sid'] },
  { crit: [] },
  { crit: null },
  { crit: 'exp' },
  { crit: {} },
  { b64: false },
  { b64: true },
  { b64: 'false' },
  { zip: 'DEF' },
  { enc: 'A256GCM' },
  { epk: {} },
  { apu: '' },
  { cty: 'JWT' },
  { 'unheard-of': 1 },
];

const extensions: Forgeries = {
  ...each(
    EXTENSIONS,
    (changes) => `a header with ${shown(changes)} under the valid key`,
    (changes) => withHeader(changes),
  ),
  'b64 false, with an unencoded payload': ({ header, claims, pair }) => {
    const head = encoded({ ...header, crit: ['b64'], b64: false });
    const payload = JSON.stringify(claims);
    const signature = ecdsa(pair.privateKey)(Buffer.from(`${head}.${payload}`)).toString('base64url');
    return `${head}.${payload.replaceAll('.', '')}.${signature}`;
  },
};

const TYPES: readonly unknown[] = [undefined, null, '', 'jwt', 'at+jwt', 'application/jwt', 'JWE', 7, ['JWT'], {}];

const types: Forgeries = each(
  TYPES,
  (typ) => `typ ${shown(typ)}`,
  (typ) => withHeader({ typ }),
);

const invalidHeaders: Forgeries = each(
  ['', '{', '{}', 'null', '[]', '"ES256"', '\uFEFF{}', '\0', '{"alg":"ES256"', '\u00ff'],
  (text) => `a header that is ${shown(text)}`,
  (text) => (m) => compact(text, m.claims, ecdsa(m.pair.privateKey)),
);

export const HEADERS: Forgeries = {
  ...kids,
  ...extensions,
  ...types,
  ...invalidHeaders,
  'a header with trailing data': (m) => compact(`${JSON.stringify(m.header)}{}`, m.claims, ecdsa(m.pair.privateKey)),
};

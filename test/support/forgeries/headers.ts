import {
  compact,
  each,
  ecdsa,
  encoded,
  type Forge,
  type Forgeries,
  hmac,
  type Json,
  shown,
  withClaims,
  withHeader,
} from './forge.ts';
import { INVALID_IDS } from './keys-and-claims.ts';

/** Key ids that must not match a key, a file, a query or a member of an object. */
const KIDS: readonly unknown[] = [
  ...[undefined, null, 7, true, [], {}, '', '../../dev/null', 'file:///dev/null', "' OR '1'='1", '$(id)', '\0'],
  ...['__proto__', 'constructor', 'toString'],
];

const EXTENSIONS: readonly Json[] = [
  ...[['unheard-of'], ['exp'], ['kid'], [], null, 'exp', {}].map((crit) => ({ crit, exp: 9_999_999_999 })),
  ...[true, false].map((b64) => ({ crit: ['b64'], b64 })),
  ...[{ b64: false }, { zip: 'DEF' }, { enc: 'A256GCM' }, { epk: {} }, { cty: 'JWT' }, { 'unheard-of': 1 }],
];
const TYPES: readonly unknown[] = [undefined, null, '', 'jwt', 'at+jwt', 'JWE', 7, ['JWT']];
const NO_HEADERS = ['', '{', '{}', 'null', '[]', '"ES256"', '\uFEFF{}', '\0', '{"alg":"ES256"', '\u00ff'];

export const HEADERS: Forgeries = {
  ...each(KIDS, (kid) => [`kid ${shown(kid)} under the valid key`, withHeader({ kid })]),
  ...each(KIDS, (kid) => [
    `kid ${shown(kid)} under an empty secret`,
    (m) => compact({ ...m.header, alg: 'HS512', kid }, m.claims, hmac('', 'sha512')),
  ]),
  ...each(KIDS, (kid) => [
    `kid ${shown(kid)} under another key`,
    (m) => compact({ ...m.header, kid }, m.claims, ecdsa(m.attacker.privateKey)),
  ]),
  'the valid kid in a list': withHeader(({ header }) => ({ kid: [header.kid] })),
  'the valid kid in lower case': withHeader(({ header }) => ({ kid: `${header.kid}`.toLowerCase() })),
  'the valid kid and a NUL': withHeader(({ header }) => ({ kid: `${header.kid}\0` })),
  'the valid kid and a space': withHeader(({ header }) => ({ kid: ` ${header.kid}` })),
  ...each(EXTENSIONS, (more) => [`a header with ${shown(more)} under the valid key`, withHeader(more)]),
  'b64 false, with an unencoded payload': ({ header, claims, pair }) => {
    const head = encoded({ ...header, crit: ['b64'], b64: false });
    const payload = JSON.stringify(claims);
    const signature = ecdsa(pair.privateKey)(Buffer.from(`${head}.${payload}`)).toString('base64url');
    return `${head}.${payload.replaceAll('.', '')}.${signature}`;
  },
  ...each(TYPES, (typ) => [`typ ${shown(typ)}`, withHeader({ typ })]),
  ...each(NO_HEADERS, (text) => [
    `a header that is ${shown(text)}`,
    (m) => compact(text, m.claims, ecdsa(m.pair.privateKey)),
  ]),
  'a header with trailing data': (m) => compact(`${JSON.stringify(m.header)}{}`, m.claims, ecdsa(m.pair.privateKey)),
};

const INVALID_NUMBERS: readonly unknown[] = [null, -1, 0.5, 2 ** 53, 1e308, '0', true, [0], {}];

export const SESSIONS: Forgeries = {
  ...each(INVALID_NUMBERS, (rot) => [`rot ${shown(rot)}`, withHeader({ rot })]),
  'a rot among the claims': withClaims({ rot: 0 }),
  ...each(INVALID_IDS, (sid) => [`sid ${shown(sid)}`, withHeader({ sid })]),
  'another sid among the claims': withClaims(() => ({ sid: '01M805M084GXA5E2JTR4FKH6W1' })),
  'details of a user': withClaims({ user: { username: 'ada' } }),
};

const withUser = (changes: Json): Forge =>
  withClaims(({ claims }) => ({ user: { ...Object(claims.user), ...changes } }));

const MEMBERS = ['id', 'username', 'email', 'createdAt', 'updatedAt'];
const INVALID_MEMBERS: readonly Json[] = [
  ...MEMBERS.flatMap((member) => [undefined, null, 7, [], {}].map((value) => ({ [member]: value }))),
  ...[{ id: '01J00000000000000000000009' }, { passwordHash: '$2b$10$x' }, { admin: true }, { createdAt: 'tomorrow' }],
];

/** Of access tokens only. */
export const USERS: Forgeries = {
  ...each([undefined, null, 7, 'ada', true, [], {}], (user) => [`user ${shown(user)}`, withClaims({ user })]),
  ...each(INVALID_MEMBERS, (changes) => [`a user with ${shown(changes)}`, withUser(changes)]),
  'the number of a refresh token': withHeader({ rot: 0 }),
};

import { compact, each, ecdsa, type Forge, type Forgeries, type Json, withClaims, withHeader } from './forge.ts';

const shown = (value: unknown): string => JSON.stringify(value) ?? 'missing';
const otherKind = (kind: string): string => (kind === 'access' ? 'refresh' : 'access');

/** A claim as raw JSON that `JSON.stringify` cannot produce: it replaces the placeholder `@`. */
const withRaw =
  (claim: string, raw: string): Forge =>
  ({ header, claims, pair }) =>
    compact(header, JSON.stringify({ ...claims, [claim]: '@' }).replace('"@"', raw), ecdsa(pair.privateKey));

const INVALID_TIMES: readonly unknown[] = [undefined, null, true, [], {}, '', 'NaN', 'Infinity', -1, 2 ** 53, 1e308];
const INVALID_IDS: readonly unknown[] = [undefined, null, 7, true, [], {}, '', 'x', '\0', '../x', "' OR '1'='1"];

const times: Forgeries = Object.assign(
  {},
  ...['exp', 'iat'].map((claim) => ({
    ...each(
      INVALID_TIMES,
      (value) => `${claim} ${shown(value)}`,
      (value) => withClaims({ [claim]: value }),
    ),
    [`${claim} as a string`]: withClaims(({ claims }) => ({ [claim]: String(claims[claim]) })),
    [`${claim} in a list`]: withClaims(({ claims }) => ({ [claim]: [claims[claim]] })),
    [`${claim} with half a second`]: withClaims(({ claims }) => ({ [claim]: Number(claims[claim]) + 0.5 })),
    [`${claim} in milliseconds`]: withClaims(({ claims }) => ({ [claim]: Number(claims[claim]) * 1000 })),
    [`${claim} of infinite size`]: withRaw(claim, '1e999'),
  })),
);

const ids: Forgeries = Object.assign(
  {},
  ...['sub', 'jti'].map((claim) => ({
    ...each(
      INVALID_IDS,
      (value) => `${claim} ${shown(value)}`,
      (value) => withClaims({ [claim]: value }),
    ),
    [`${claim} in a list`]: withClaims(({ claims }) => ({ [claim]: [claims[claim]] })),
    [`${claim} with an additional character`]: withClaims(({ claims }) => ({ [claim]: `${claims[claim]}0` })),
  })),
);

const kinds: Forgeries = {
  'the valid token of the other kind': ({ otherToken }) => otherToken,
  'the tokenType of the other kind': withClaims(({ kind }) => ({ tokenType: otherKind(kind) })),
  ...each(
    [undefined, null, 0, true, '', 'ACCESS', 'Refresh', 'access ', 'id', ['access', 'refresh'], {}] as const,
    (value) => `tokenType ${shown(value)}`,
    (value) => withClaims({ tokenType: value }),
  ),
};

const validity: Forgeries = {
  'an exp in the past': withClaims(({ claims }) => ({ exp: Number(claims.iat) - 1 })),
  'an exp of 0': withClaims({ exp: 0 }),
  'an nbf in the future': withClaims(({ claims }) => ({ nbf: Number(claims.exp) })),
  'an nbf of 0': withClaims({ nbf: 0 }),
  'an nbf that is a string': withClaims({ nbf: 'soon' }),
};

const MORE: readonly Json[] = [
  { iss: 'x' },
  { iss: null },
  { aud: 'x' },
  { aud: [] },
  { admin: true },
  { constructor: {} },
  { scope: '*' },
];

const others: Forgeries = {
  ...each(
    MORE,
    (changes) => `a claim more: ${shown(changes)}`,
    (changes) => withClaims(changes),
  ),
  'an additional claim: __proto__': ({ header, claims, pair }) =>
    compact(header, JSON.stringify(claims).replace('{', '{"__proto__":{"x":1},'), ecdsa(pair.privateKey)),
  ...each(
    ['', '{', 'null', '[]', '{}', '"text"', '7', '\0', '['.repeat(2_000)],
    (text) => `a payload that is ${shown(text.slice(0, 10))}`,
    (text) => (m) => compact(m.header, text, ecdsa(m.pair.privateKey)),
  ),
};

export const CLAIMS: Forgeries = { ...times, ...ids, ...kinds, ...validity, ...others };

const withUser = (changes: Json): Forge =>
  withClaims(({ claims }) => ({ user: { ...Object(claims.user), ...changes } }));

const MEMBERS = ['id', 'username', 'email', 'createdAt', 'updatedAt'];

/** For access tokens only. */
export const USERS: Forgeries = {
  ...each(
    [undefined, null, 7, 'ada', true, [], {}] as const,
    (value) => `user ${shown(value)}`,
    (value) => withClaims({ user: value }),
  ),
  ...Object.assign(
    {},
    ...MEMBERS.map((member) =>
      each(
        [undefined, null, 7, [], {}] as const,
        (value) => `user.${member} ${shown(value)}`,
        (value) => withUser({ [member]: value }),
      ),
    ),
  ),
  'the id of another user': withUser({ id: '01J00000000000000000000009' }),
  'a user with a hash': withUser({ passwordHash: '$2b$10$x' }),
  'a user with a role': withUser({ admin: true }),
  'the number of a refresh token': withHeader({ rot: 0 }),
  'a user with a malformed time': withUser({ createdAt: 'tomorrow' }),
};

const INVALID_NUMBERS: readonly unknown[] = [null, -1, 0.5, 2 ** 53, 1e308, '0', true, [0], {}];

export const SESSIONS: Forgeries = {
  ...each(
    INVALID_NUMBERS,
    (value) => `rot ${shown(value)}`,
    (value) => withHeader({ rot: value }),
  ),
  'a rot among the claims': withClaims({ rot: 0 }),
  ...each(
    INVALID_IDS,
    (value) => `sid ${shown(value)}`,
    (value) => withHeader({ sid: value }),
  ),
  'a sid among the claims': withClaims(({ header }) => ({ sid: header.sid })),
  'details of a user': withClaims({ user: { username: 'ada' } }),
};

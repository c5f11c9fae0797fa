import type { Check } from '../check.ts';
import type { Reply } from '../client.ts';
import { refreshCookieOf } from '../cookies.ts';
import { bodyOf, expectText, expectUlid, hold, isObject, membersOf, show } from '../expectations.ts';
import { keysThatVerify, type OpenedToken, openToken } from '../tokens.ts';
import { type Tokens, tokensOf, type World } from '../world.ts';

/** Seconds between the issue of a token and the timestamp of its response. */
const ISSUED_WITHIN = 60;
const USER_MEMBERS = ['id', 'username', 'email', 'createdAt', 'updatedAt'] as const;

/** The responses that issue tokens. */
const issuing = async (world: World): Promise<readonly Reply[]> => [
  await world.registered(),
  await world.loggedIn(),
  (await world.rotation()).first,
];
const issued = async (world: World): Promise<readonly Tokens[]> => (await issuing(world)).map(tokensOf);

const expectClaims = ({ claims }: OpenedToken, tokenType: string): void => {
  expectUlid(claims.sub, `sub of the ${tokenType} token`);
  expectUlid(claims.jti, `jti of the ${tokenType} token`);
  for (const name of ['iat', 'exp']) hold(typeof claims[name] === 'number', `${name} as a number`, claims[name]);
  hold(claims.tokenType === tokenType, `tokenType: ${tokenType}`, claims.tokenType);
};

const expectLifetime = (kind: 'access' | 'refresh', reply: Reply, { options: { settings } }: World): void => {
  const { claims } = openToken(tokensOf(reply)[kind], `the ${kind} token`);
  const seconds = settings[`${kind}Lifetime`];
  hold(
    Number(claims.exp) - Number(claims.iat) === seconds,
    `${seconds} s from iat to exp`,
    show({ iat: claims.iat, exp: claims.exp }),
  );
  const time = Date.parse(String(bodyOf(reply).timestamp)) / 1000;
  hold(Math.abs(time - Number(claims.iat)) <= ISSUED_WITHIN, `iat at the time of the response, ${time}`, claims.iat);
};

export const tokens: readonly Check[] = [
  {
    id: 'access-claims',
    source: ['Access token (JWT, ES256) claims', '| `tokenType` | string | `access` |'],
    title: 'the access token has its claims, of their types',
    run: async (world) => {
      for (const { access } of await issued(world)) expectClaims(openToken(access, 'the access token'), 'access');
    },
  },
  {
    id: 'access-user',
    source: [
      'Access token (JWT, ES256) claims',
      '`id`, `username`, `email`, `createdAt`, `updatedAt`, all strings; `passwordHash` is left out',
    ],
    title: 'the access token has the user, as the response does, without a hash',
    run: async (world) => {
      const { user } = membersOf(await world.loggedIn());
      const { claims } = openToken((await world.tokens()).access, 'the access token');
      hold(isObject(claims.user) && isObject(user), 'the claim user', show(Object.keys(claims)));
      for (const name of USER_MEMBERS) {
        expectText(claims.user[name], `user.${name}`);
        hold(claims.user[name] === user[name], `user.${name}: ${show(user[name])}`, claims.user[name]);
      }
      hold(claims.sub === user.id, `sub: ${show(user.id)}`, claims.sub);
      hold(!/hash/i.test(show(claims)), 'no hash among the claims', show(Object.keys(claims.user)));
    },
  },
  {
    id: 'refresh-claims',
    source: ['Refresh token (JWT, ES256) claims', '| `tokenType` | string | `refresh` |'],
    title: 'the refresh token has its claims, of their types',
    run: async (world) => {
      for (const { refresh } of await issued(world)) expectClaims(openToken(refresh, 'the refresh token'), 'refresh');
    },
  },
  {
    id: 'refresh-without-user',
    source: ['Refresh token (JWT, ES256) claims', 'The refresh token carries nothing else about the user.'],
    title: 'the refresh token has no details of the user',
    run: async (world) => {
      const { claims } = openToken((await world.tokens()).refresh, 'the refresh token');
      hold(!show(claims).includes(world.person.username), 'neither username nor email', show(Object.keys(claims)));
      hold(!('user' in claims), 'no claim user', show(Object.keys(claims)));
    },
  },
  {
    id: 'own-token-ids',
    source: ['Access token (JWT, ES256) claims', '| `jti` | string | id of this token, a ULID |'],
    title: 'every token has a jti of its own, and all have the same sub',
    run: async (world) => {
      const all = (await issued(world)).flatMap(({ access, refresh }) => [access, refresh]);
      const claims = all.map((token) => openToken(token, 'a token').claims);
      hold(
        new Set(claims.map(({ jti }) => jti)).size === all.length,
        `${all.length} different jti`,
        show(claims.map(({ jti }) => jti)),
      );
      hold(new Set(claims.map(({ sub }) => sub)).size === 1, 'one sub', show(claims.map(({ sub }) => sub)));
    },
  },
  {
    id: 'token-algorithm',
    source: ['Token scheme', '| Algorithm | ES256 (ECDSA on P-256) | ES256 |'],
    title: 'both tokens name ES256, and have a signature of its length',
    run: async (world) => {
      for (const token of Object.values(await world.tokens())) {
        const { header } = openToken(token, 'a token');
        hold(header.alg === 'ES256', 'alg: ES256', header.alg);
        const length = Buffer.from(token.split('.')[2] ?? '', 'base64url').length;
        hold(length === 64, 'a signature of 64 bytes', `${length} bytes`);
      }
    },
  },
  {
    id: 'token-signatures',
    source: ['Token scheme', 'A public key may be handed to third parties, which then verify tokens themselves.'],
    title: 'the published keys verify access tokens',
    run: async (world) => {
      const keys = await world.keys();
      for (const { access } of await issued(world))
        hold(
          (await keysThatVerify(keys, access)).length > 0,
          'a key that verifies the access token',
          `none of ${keys.length} keys does`,
        );
    },
  },
  {
    id: 'separate-keys',
    source: ['Token scheme', 'Each kind of token has a key pair of its own.'],
    title: 'the key of the access tokens does not verify refresh tokens',
    run: async (world) => {
      const keys = await world.keys();
      for (const { access, refresh } of await issued(world)) {
        const both = await keysThatVerify(await keysThatVerify(keys, access), refresh);
        hold(both.length === 0, 'another key for the refresh token', 'the same key verifies both tokens');
      }
    },
  },
  {
    id: 'access-lifetime',
    source: ['Token scheme', '| Lifetime | 15 minutes (`JWT_ACCESS_EXPIRES_IN`, default `15m`) |'],
    title: 'the access token is valid for its lifetime, from now on',
    run: async (world) => {
      for (const reply of await issuing(world)) expectLifetime('access', reply, world);
    },
  },
  {
    id: 'refresh-lifetime',
    source: ['Token scheme', '7 days (`JWT_REFRESH_EXPIRES_IN`, default `7d`)'],
    title: 'the refresh token is valid for its lifetime, from now on',
    run: async (world) => {
      for (const reply of await issuing(world)) expectLifetime('refresh', reply, world);
    },
  },
  {
    id: 'refresh-token-in-cookie-only',
    source: ['What the service does', 'The refresh token is long-lived and travels only in an HttpOnly cookie.'],
    title: 'the refresh token is in the cookie and not in the body',
    run: async (world) => {
      for (const reply of await issuing(world))
        hold(
          !reply.text.includes(refreshCookieOf(reply).value),
          'a body without the refresh token',
          `the refresh token in the body (${reply.to})`,
        );
    },
  },
  {
    id: 'refresh-without-bearer',
    source: [
      'Token scheme',
      '| Transport | request header `Authorization: Bearer <ACCESS_TOKEN>` | HttpOnly cookie `refresh_token` |',
    ],
    title: 'a refresh token in the body or in Authorization is not read',
    run: async (world) => {
      const { refresh } = await world.tokens();
      const request = { method: 'POST', path: '/auth/refresh-token' };
      for (const given of [
        { headers: { authorization: `Bearer ${refresh}` } },
        { body: { refreshToken: refresh, refresh_token: refresh } },
      ]) {
        const { status } = await world.send({ ...request, ...given });
        hold(status === 401, '401', `${status} (${request.path})`);
      }
    },
  },
];

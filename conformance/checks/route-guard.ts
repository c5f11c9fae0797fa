import type { Check } from '../check.ts';
import { dataOf, errorOf, hold, show } from '../expectations.ts';
import { keysThatVerify, signedByOthers, signedWithPublicKey, tampered, unsigned, withOtherClaims } from '../tokens.ts';
import { onRoute, type World } from '../world.ts';

/** Values of `Authorization` that have a token, but no valid access token. */
const invalid = async (world: World): Promise<readonly (readonly [what: string, header: string])[]> => {
  const { access, refresh } = await world.tokens();
  // Other checks are about the key set. Without it there is no key to forge with.
  const keys = await keysThatVerify(await world.keys().catch(() => []), access);
  const forged = (await Promise.all(keys.map((key) => signedWithPublicKey(access, key)))).flat();
  return [
    ['no JWT', 'Bearer nothing'],
    ['a tampered signature', `Bearer ${tampered(access)}`],
    ['changed claims', `Bearer ${withOtherClaims(access)}`],
    ['no signature', `Bearer ${unsigned(access)}`],
    ['the signature of another key', `Bearer ${await signedByOthers(access)}`],
    ...forged.map((token) => ['HS256 with the public key as the secret', `Bearer ${token}`] as const),
    ['a refresh token', `Bearer ${refresh}`],
  ];
};

export const routeGuard: readonly Check[] = [
  {
    id: 'required-valid',
    source: ['Route guard', 'With a valid one, `req.jwtClaim` is set.'],
    title: 'a required route passes with a valid access token',
    run: async (world) => {
      dataOf(await onRoute(world, 'required', `Bearer ${(await world.tokens()).access}`));
    },
  },
  {
    id: 'required-missing',
    source: ['Route guard', 'Without the header: `AUTH_TOKEN_MISSING`, 401.'],
    title: 'a required route without a token answers 401 AUTH_TOKEN_MISSING',
    run: async (world) => {
      errorOf(await onRoute(world, 'required'), 401, 'AUTH_TOKEN_MISSING');
    },
  },
  {
    id: 'required-invalid',
    source: ['Route guard', 'With an invalid token: `AUTH_TOKEN_INVALID`, 401.'],
    title: 'a required route with an invalid token answers 401 AUTH_TOKEN_INVALID',
    run: async (world) => {
      for (const [what, header] of await invalid(world)) {
        const reply = await onRoute(world, 'required', header);
        hold(reply.status === 401, `401 for ${what}`, `${reply.status} (${reply.to})`);
        errorOf(reply, 401, 'AUTH_TOKEN_INVALID');
      }
    },
  },
  {
    id: 'optional-valid',
    source: ['Route guard', 'The request always passes. With a valid token in `Authorization`, `req.jwtClaim` is set.'],
    title: 'an optional route passes with and without a token',
    run: async (world) => {
      dataOf(await onRoute(world, 'optional', `Bearer ${(await world.tokens()).access}`));
      dataOf(await onRoute(world, 'optional'));
    },
  },
  {
    id: 'optional-invalid',
    source: [
      'Route guard',
      'Without the header, or with an invalid token, `req.jwtClaim` is undefined and the request is anonymous.',
    ],
    title: 'an optional route treats an invalid token as none',
    run: async (world) => {
      const anonymous = show(dataOf(await onRoute(world, 'optional')));
      for (const [what, header] of await invalid(world)) {
        const data = show(dataOf(await onRoute(world, 'optional', header)));
        hold(data === anonymous, `for ${what} the same as without a token: ${anonymous}`, data);
      }
    },
  },
];

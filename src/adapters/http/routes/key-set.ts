import * as v from 'valibot';
import { type Route, route } from '../routing/define-route.ts';

/** RFC 7518 §6.2.1. Public members only, so that a private key is never sent. */
const PublicJwk = v.object({
  kty: v.literal('EC'),
  crv: v.literal('P-256'),
  x: v.string(),
  y: v.string(),
  kid: v.string(),
  use: v.literal('sig'),
  alg: v.literal('ES256'),
});
const KeySet = v.object({ keys: v.array(PublicJwk) });

/** Seconds for which third parties cache the set. A new key is published for longer than this before it signs. */
export const KEY_SET_MAX_AGE = 300;

/** The keys with which third parties verify access tokens: RFC 7517 §5, §8.5.2. */
export const keySetRoutes = (keySet: v.InferInput<typeof KeySet>): Route[] => [
  route(
    {
      name: 'key-set',
      method: 'GET',
      path: '/.well-known/jwks.json',
      auth: 'public',
      throttle: 'public',
      response: {
        data: KeySet,
        unwrapped: { type: 'application/jwk-set+json', cacheControl: `public, max-age=${KEY_SET_MAX_AGE}` },
      },
    },
    () => keySet,
  ),
];

import type { KeyObject } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import { exportJWK } from 'jose/key/export';

export type PublicJwks = { readonly keys: Awaited<ReturnType<typeof publicJwk>>[] };

/** The public keys of a pair as a JWK Set, the current one first. Each has the `kid` that is in the headers of its tokens. */
export const jwks = async ({ publicKeys }: KeyPair): Promise<PublicJwks> => ({
  keys: await Promise.all(publicKeys.map(publicJwk)),
});

const publicJwk = async (key: KeyObject) => {
  const { x = '', y = '' } = await exportJWK(key);
  return { kty: 'EC', crv: 'P-256', x, y, kid: await calculateJwkThumbprint(key), use: 'sig', alg: 'ES256' } as const;
};

export const kidsOf = async (pair: KeyPair): Promise<string[]> => (await jwks(pair)).keys.map(({ kid }) => kid);

/** The keys of one kind of token, on P-256. */
export type KeyPair = {
  readonly privateKey: KeyObject;
  /** The first belongs to `privateKey`; the others only verify. */
  readonly publicKeys: readonly KeyObject[];
};

/** Each kind of token has its own key pair. SPEC "Token scheme". */
export type TokenKeys = { readonly access: KeyPair; readonly refresh: KeyPair };

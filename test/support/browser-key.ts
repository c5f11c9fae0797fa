import { compact, ecdsa, type Json, type Signer } from './forgeries/forge.ts';
import { testKeyPair } from './keys.ts';

/** A software key in place of the key that a browser keeps for Device Bound Session Credentials. */
export const browserKey = () => {
  const { privateKey, publicKeys } = testKeyPair();
  const { kty, crv, x, y } = publicKeys[0]?.export({ format: 'jwk' }) ?? {};
  const jwk = { crv, kty, x, y };
  const sign = (header: unknown, claims: unknown, signer: Signer = ecdsa(privateKey)) =>
    compact(header, claims, signer);
  return {
    privateKey,
    jwk,
    /** The public key in the form in which the service stores it. */
    key: `${x}.${y}`,
    sign,
    registration: (challenge: string, authorization: string, header: Json = {}): string =>
      sign({ alg: 'ES256', jwk, typ: 'dbsc+jwt', ...header }, { authorization, jti: challenge }),
    renewal: (challenge: string): string => sign({ alg: 'ES256', typ: 'dbsc+jwt' }, { jti: challenge }),
  };
};

export type BrowserKey = ReturnType<typeof browserKey>;

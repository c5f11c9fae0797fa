import { hash } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';

/** The contents of a proof. */
type ProofOf = {
  readonly htu: string;
  readonly htm?: string;
  /** The time of the device's clock, in epoch milliseconds. */
  readonly now: number;
  readonly jti?: string;
  /** A token that is bound to the key. The proof contains the token's hash as `ath`. */
  readonly accessToken?: string;
};

export type DeviceKey = {
  /** The key's thumbprint by RFC 7638. */
  readonly thumbprint: string;
  /** Makes a proof as a client does. */
  readonly proof: (of: ProofOf) => Promise<string>;
};

const digestOf = (text: string): string => hash('sha256', text, 'base64url');

/** The key of a device, whose proofs jose and WebCrypto make. They are the reference for the service's own verification. */
export const joseDeviceKey = async (): Promise<DeviceKey> => {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: false });
  const jwk = await exportJWK(publicKey);
  return {
    thumbprint: await calculateJwkThumbprint(jwk),
    proof: ({ htu, htm = 'POST', now, jti = crypto.randomUUID(), accessToken }) =>
      new SignJWT({ htm, htu, iat: Math.floor(now / 1000), jti, ...(accessToken && { ath: digestOf(accessToken) }) })
        .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
        .sign(privateKey),
  };
};

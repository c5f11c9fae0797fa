import { hash } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';

/** What a proof is for. */
type ProofOf = {
  readonly htu: string;
  readonly htm?: string;
  /** Epoch milliseconds of the device's clock. */
  readonly now: number;
  readonly jti?: string;
  /** With a token that is bound to the key: `ath`. */
  readonly accessToken?: string;
};

export type DeviceKey = {
  /** RFC 7638. */
  readonly thumbprint: string;
  /** Makes a proof as clients do. */
  readonly proof: (of: ProofOf) => Promise<string>;
};

const digestOf = (text: string): string => hash('sha256', text, 'base64url');

/** The key of a device, and its proofs by jose and WebCrypto: the reference for the service's own verification. */
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

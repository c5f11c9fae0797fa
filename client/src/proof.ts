import { base64url, calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose';

/** Seconds by which the clock of a device may differ: as many as the service allows. */
const TOLERANCE = 60;

/**
 * Whether a request has a proof of the key to which its access token is bound (RFC 9449 §4.3). A proof may be used again, since frameworks check a
 * request twice. A copied proof counts only for the same method, URL and token, until a minute after its time.
 * @param url the URL of the request as clients know it, without its query
 * @param jkt the thumbprint of the key
 */
export const isProven = async (
  { headers, method }: Request,
  url: string,
  { token, jkt }: { readonly token: string; readonly jkt: string | undefined },
): Promise<boolean> => {
  try {
    const rules = { algorithms: ['ES256'], typ: 'dpop+jwt', requiredClaims: ['iat', 'jti'] };
    const { payload, protectedHeader } = await jwtVerify(headers.get('DPoP') ?? '', EmbeddedJWK, rules);
    const { htm, htu, ath, iat = 0 } = payload;
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token)));
    return (
      htm === method &&
      new URL(String(htu)).href === url &&
      ath === base64url.encode(digest) &&
      Math.abs(Date.now() / 1000 - iat) <= TOLERANCE &&
      (await calculateJwkThumbprint(protectedHeader.jwk ?? {})) === jkt
    );
  } catch {
    return false;
  }
};

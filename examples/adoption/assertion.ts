import { createPrivateKey, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';

/**
 * Signs assertions for `POST /auth/adopt` of Tandem. Each is valid for half a minute, once.
 * @param privateKey in PEM (PKCS#8), EC on the curve P-256: the other half of ADOPTION_PUBLIC_KEY.
 * @param audience the BASE_URL of Tandem.
 */
export const assertionSigner = (privateKey: string, audience: string) => {
  const key = createPrivateKey(privateKey);
  /** @param userId the id in Tandem */
  return (userId: string): Promise<string> =>
    new SignJWT({ jti: randomUUID() })
      .setProtectedHeader({ typ: 'adoption+jwt', alg: 'ES256' })
      .setSubject(userId)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime('30s')
      .sign(key);
};

import { createPrivateKey, createPublicKey } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { ACCESS_LIFETIME, REFRESH_LIFETIME, tokenKeys } from '../environment.ts';
import type { AccessClaims, RefreshClaims, Tokens } from './tokens.ts';

/** ES256 by jsonwebtoken, synchronous, over keys that are parsed once. */
export const jsonwebtokenTokens = (): Tokens => {
  const { access, refresh } = tokenKeys();
  const accessKey = createPrivateKey(access.privateKey);
  const refreshKey = createPrivateKey(refresh.privateKey);
  const accessPublicKey = createPublicKey(access.publicKey);
  const refreshPublicKey = createPublicKey(refresh.publicKey);
  return {
    signAccess: (claims) => jwt.sign(claims, accessKey, { algorithm: 'ES256', expiresIn: ACCESS_LIFETIME }),
    signRefresh: (claims) => jwt.sign(claims, refreshKey, { algorithm: 'ES256', expiresIn: REFRESH_LIFETIME }),
    // The claims are those that were signed above.
    verifyAccess: (token) => jwt.verify(token, accessPublicKey, { algorithms: ['ES256'] }) as unknown as AccessClaims,
    verifyRefresh: (token) =>
      jwt.verify(token, refreshPublicKey, { algorithms: ['ES256'] }) as unknown as RefreshClaims,
  };
};

import { createSigner, createVerifier } from 'fast-jwt';
import { ACCESS_LIFETIME, REFRESH_LIFETIME, tokenKeys } from '../environment.ts';
import type { Tokens } from './tokens.ts';

/** ES256 by fast-jwt, synchronous, without its cache. */
export const fastJwtTokens = (): Tokens => {
  const { access, refresh } = tokenKeys();
  return {
    signAccess: createSigner({ algorithm: 'ES256', key: access.privateKey, expiresIn: ACCESS_LIFETIME }),
    signRefresh: createSigner({ algorithm: 'ES256', key: refresh.privateKey, expiresIn: REFRESH_LIFETIME }),
    verifyAccess: createVerifier({ algorithms: ['ES256'], key: access.publicKey }),
    verifyRefresh: createVerifier({ algorithms: ['ES256'], key: refresh.publicKey }),
  };
};

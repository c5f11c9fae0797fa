import { createSigner, createVerifier } from 'fast-jwt';
import { ACCESS_LIFETIME, REFRESH_LIFETIME, tokenKeys } from '../environment.ts';
import type { Tokens } from './tokens.ts';

/** As many as Tandem remembers. */
const CACHED_TOKENS = 5_000;

/**
 * ES256 by fast-jwt, synchronous.
 * @param isCaching whether it remembers verified access tokens, as Tandem does. A refresh token comes only once.
 */
export const fastJwtTokens = ({ isCaching }: { readonly isCaching: boolean }): Tokens => {
  const { access, refresh } = tokenKeys();
  return {
    signAccess: createSigner({ algorithm: 'ES256', key: access.privateKey, expiresIn: ACCESS_LIFETIME }),
    signRefresh: createSigner({ algorithm: 'ES256', key: refresh.privateKey, expiresIn: REFRESH_LIFETIME }),
    verifyAccess: createVerifier({ algorithms: ['ES256'], key: access.publicKey, cache: isCaching && CACHED_TOKENS }),
    verifyRefresh: createVerifier({ algorithms: ['ES256'], key: refresh.publicKey }),
  };
};

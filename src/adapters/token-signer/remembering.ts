import { hash } from 'node:crypto';
import type { AccessToken, TokenSigner } from '../../application/ports/token-signer.ts';

/** Number of tokens, about 1 KiB each. */
const MAX_REMEMBERED = 5_000;

/**
 * Remembers the access tokens that were verified, so that a token is verified once and then only compared: by its SHA-256, so that
 * the tokens themselves are not kept. When there are too many, the one that was not used for longest is forgotten. What the signer
 * rejects is not remembered.
 * @param options.max the number of tokens, for tests.
 */
export const rememberingTokenSigner = (signer: TokenSigner, { max = MAX_REMEMBERED } = {}): TokenSigner => {
  const remembered = new Map<string, AccessToken>();
  return {
    ...signer,
    async verifyAccess(token, now) {
      const digest = hash('sha256', token, 'base64url');
      const known = remembered.get(digest);
      remembered.delete(digest);
      if (known !== undefined && now < known.claims.exp * 1000) {
        remembered.set(digest, known);
        return { ok: true, token: known };
      }
      const verified = await signer.verifyAccess(token, now);
      if (!verified.ok) return verified;
      remembered.set(digest, frozen(verified.token));
      const [oldest = digest] = remembered.keys();
      if (remembered.size > max) remembered.delete(oldest);
      return verified;
    },
  };
};

/** Several requests get the same object. */
const frozen = (token: AccessToken): AccessToken => {
  Object.freeze(token.claims.user);
  Object.freeze(token.claims);
  return Object.freeze(token);
};

import { hash } from 'node:crypto';
import type { AccessToken, RefreshToken, TokenSigner } from '../../application/ports/token-signer.ts';

/** Tokens of each kind, about 1 KiB for an access token and half of that for a refresh token. */
const MAX_REMEMBERED = 5_000;

/**
 * Remembers tokens by their SHA-256, so that their signature is not verified again: access tokens that were verified, and refresh tokens
 * that were issued here. A remembered token gets the same result as a verification: it is checked for its expiry, and keys and
 * configuration do not change while a process runs. Rejected tokens are not remembered. ADR 0014.
 * @param options.max the number of tokens of each kind, for tests.
 */
export const rememberingTokenSigner = (signer: TokenSigner, { max = MAX_REMEMBERED } = {}): TokenSigner => {
  const access = memory<AccessToken>(max);
  const refresh = memory<RefreshToken>(max);
  return {
    ...signer,
    async signRefresh({ claims, sessionId, rotation }) {
      const text = await signer.signRefresh({ claims, sessionId, rotation });
      refresh.add(digestOf(text), frozen({ claims: { ...claims }, sessionId, rotation }));
      return text;
    },
    async verifyAccess(text, now) {
      const digest = digestOf(text);
      const known = access.take(digest, now);
      if (known !== undefined) {
        access.add(digest, known);
        return { ok: true, token: known };
      }
      const verified = await signer.verifyAccess(text, now);
      if (verified.ok) access.add(digest, frozen(verified.token));
      return verified;
    },
    /** Forgets the token: it is rotated, so it hardly ever comes again. */
    async verifyRefresh(text, now) {
      const known = refresh.take(digestOf(text), now);
      return known === undefined ? signer.verifyRefresh(text, now) : { ok: true, token: known };
    },
  };
};

const digestOf = (text: string): string => hash('sha256', text, 'base64url');

type Token = { readonly claims: { readonly exp: number } };

/** Tokens by their digest. Beyond `max`, the one that was added first is forgotten. */
const memory = <Each extends Token>(max: number) => {
  const tokens = new Map<string, Each>();
  return {
    add(digest: string, token: Each): void {
      tokens.set(digest, token);
      const [oldest = digest] = tokens.keys();
      if (tokens.size > max) tokens.delete(oldest);
    },
    /** Removes a token, and returns it unless it has expired. */
    take(digest: string, now: number): Each | undefined {
      const token = tokens.get(digest);
      tokens.delete(digest);
      return token !== undefined && now < token.claims.exp * 1000 ? token : undefined;
    },
  };
};

/** Several requests may get the same object. */
const frozen = <Each extends Token>(token: Each): Each => {
  for (const member of Object.values(token.claims)) if (typeof member === 'object') Object.freeze(member);
  Object.freeze(token.claims);
  return Object.freeze(token);
};

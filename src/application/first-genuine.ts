import type { RefreshToken, TokenSigner } from './ports/token-signer.ts';

/** Of the refresh tokens a request carries (a browser may send several cookies of one name) the first that verifies and is meant. */
export const firstGenuine = async (
  tokens: TokenSigner,
  presented: readonly string[],
  now: number,
  isMeant: (token: RefreshToken) => boolean = () => true,
): Promise<RefreshToken | null> => {
  for (const text of presented) {
    const verified = await tokens.verifyRefresh(text, now);
    if (verified.ok && isMeant(verified.token)) return verified.token;
  }
  return null;
};

import type { RefreshToken, TokenSigner } from '../ports/token-signer.ts';

/** Of the refresh tokens a request carries (a browser may send several cookies of one name) those that verify, in their order. */
export const genuineTokens = async (
  tokens: TokenSigner,
  presented: readonly string[],
  now: number,
): Promise<RefreshToken[]> => {
  const verified = await Promise.all(presented.map((text) => tokens.verifyRefresh(text, now)));
  return verified.flatMap((outcome) => (outcome.ok ? [outcome.token] : []));
};

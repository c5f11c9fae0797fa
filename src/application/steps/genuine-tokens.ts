import type { Clock } from '../ports/clock.ts';
import type { RefreshToken, TokenSigner } from '../ports/token-signer.ts';

type GenuineTokensDeps = { readonly tokens: TokenSigner; readonly clock: Clock };

/** The presented refresh tokens that verify, in their order. A browser may send several cookies of the same name. */
export const genuineTokens = async (
  { tokens, clock }: GenuineTokensDeps,
  presented: readonly string[],
): Promise<RefreshToken[]> => {
  const now = clock.now();
  const verified = await Promise.all(presented.map((text) => tokens.verifyRefresh(text, now)));
  return verified.flatMap((outcome) => (outcome.ok ? [outcome.token] : []));
};

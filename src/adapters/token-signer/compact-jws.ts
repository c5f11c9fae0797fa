/** Characters. The tokens signed here have fewer than 1 024; longer ones are rejected before anything is computed. */
const MAX_TOKEN_LENGTH = 8 * 1024;
/**
 * The canonical form of a compact JWS with a signature of 64 bytes. Decoders of base64url accept other texts for the same
 * signature: with white space, or with unused bits set in the last character.
 */
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/;

/** Why a text can't be a token of this service, before anything is decoded. `null`: it may be one. */
export const formProblem = (token: string): 'too_long' | 'malformed' | null => {
  if (token.length > MAX_TOKEN_LENGTH) return 'too_long';
  return COMPACT_JWS.test(token) ? null : 'malformed';
};

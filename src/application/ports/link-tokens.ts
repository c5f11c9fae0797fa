/**
 * Makes the tokens of links that are sent by email.
 * - makes tokens of 256 random bits: 43 characters of base64url
 * - never makes the same token twice
 * - hashes a token to the same text each time, and other tokens to others
 */
export interface LinkTokens {
  next(): string;
  /** SHA-256, which is stored instead of the token. */
  hashOf(token: string): string;
}

/**
 * Computes the codes of authenticator apps.
 * - computes the codes of RFC 6238, appendix B, with six digits
 * - keeps leading zeros
 * - takes secrets of any length in Base32
 */
export interface OneTimePasswords {
  /** @param secret in Base32 (RFC 4648 §6), without padding. @param step a number of periods since 1970. */
  codeOf(secret: string, step: number): string;
}

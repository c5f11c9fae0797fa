/**
 * Encrypts the secrets of factors, so that a copy of the database has none.
 * - decrypts what it has encrypted for the same user
 * - encrypts a secret differently each time, and shows nothing of it
 * - decrypts nothing for another user
 * - decrypts no text that was changed in any part
 * - decrypts no text that it has not encrypted
 * - decrypts what was encrypted with an earlier key, and says that this is outdated
 */
export interface FactorSecrets {
  encrypt(secret: string, userId: string): string;
  /** @returns `null` for a text that was changed, is of another user, or was encrypted with an unknown key. */
  decrypt(text: string, userId: string): string | null;
  /** Whether the text was encrypted with the key that encrypts now. */
  isCurrent(text: string): boolean;
}

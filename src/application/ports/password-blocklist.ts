/**
 * Passwords that are guessed first.
 * - finds each of them common, in any letter case
 * - finds no password common that only resembles one of them
 */
export interface PasswordBlocklist {
  isCommon(password: string): boolean;
}

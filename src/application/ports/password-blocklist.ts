/**
 * A list of common passwords, which attackers try first.
 * - recognizes each of them, in any letter case
 * - does not recognize a password that only resembles one of them
 *
 * @example
 * const blocklist: PasswordBlocklist = { isCommon: (password) => list.has(password.toLowerCase()) };
 */
export interface PasswordBlocklist {
  isCommon(password: string): boolean;
}

/**
 * A list of common passwords, which attackers try first.
 * - recognizes each of them, in any letter case
 * - does not recognize a password that only resembles one of them
 */
export interface PasswordBlocklist {
  isCommon(password: string): boolean;
}

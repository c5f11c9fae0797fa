import { canonicalEmail, canonicalUsername } from './user.ts';
import { utf8Length } from './utf8.ts';

/** Limits of a password (ADR 0008). A password within them is used unmodified. */

/** In code points, so that a character outside the BMP counts as one. */
export const PASSWORD_MIN_CODE_POINTS = 8;
/** In bytes of UTF-8: bcrypt ignores any further bytes. */
export const PASSWORD_MAX_BYTES = 72;

export type PasswordProblem = 'too_short' | 'too_long' | 'invalid_characters';

/**
 * Why a text is not accepted as a password; `null` when it is.
 * Some implementations of bcrypt end a password at NUL. Lone surrogates have no UTF-8 form, so several texts would share one hash.
 */
export const passwordProblem = (password: string): PasswordProblem | null => {
  if (password.includes('\0') || !password.isWellFormed()) return 'invalid_characters';
  if (utf8Length(password) > PASSWORD_MAX_BYTES) return 'too_long';
  if ([...password].length < PASSWORD_MIN_CODE_POINTS) return 'too_short';
  return null;
};

/** Whether bcrypt distinguishes this text from every other. */
export const isHashable = (password: string): boolean => {
  const problem = passwordProblem(password);
  return problem === null || problem === 'too_short';
};

/** Whether a password is the user's username, email address or the part of it before the `@`, in any letter case. */
export const isOwnName = (password: string, { username, email }: { username: string; email: string }): boolean => {
  const address = canonicalEmail(email);
  const names = [canonicalUsername(username), address, address.slice(0, address.lastIndexOf('@'))];
  return names.includes(password.toLowerCase());
};

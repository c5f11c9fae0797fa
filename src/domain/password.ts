import { AppError } from './errors/app-error.ts';
import { utf8Length } from './text.ts';
import { canonicalEmail, canonicalUsername } from './user.ts';

/** Limits of a password (ADR 0008). A password within them is used unmodified. */

/** In code points, so that a character outside the BMP counts as one. */
export const PASSWORD_MIN_CODE_POINTS = 8;
/** In bytes of UTF-8: bcrypt ignores any further bytes. */
export const PASSWORD_MAX_BYTES = 72;

/** In place of the hash of a user who was imported without one. No password matches it here; the former system may be asked. */
export const UNKNOWN_PASSWORD = '$unknown$';

/** In place of the hash of a user who has no password, or none any more. No password matches it anywhere. */
export const NO_PASSWORD = '$none$';

/** Whether something was hashed, with which a password can be compared here. */
export const isHash = (text: string): boolean => text !== UNKNOWN_PASSWORD && text !== NO_PASSWORD;

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

export type PasswordRuleDeps = {
  /** Whether a password is one that attackers try first, in any letter case. `null`: no password is refused. */
  readonly isCommonPassword: ((password: string) => boolean) | null;
};

type ProposedPassword = { readonly password: string; readonly username: string; readonly email: string };

/**
 * Refuses a new password that is easy to guess (ADR 0008). Its length and characters have been validated before.
 * @param field the name of the password's field in the error's details.
 * @throws AppError CLIENT_PARAMS_VALIDATION_FAILED
 */
export const assertPasswordAllowed = (
  { isCommonPassword }: PasswordRuleDeps,
  { password, username, email }: ProposedPassword,
  field: 'password' | 'newPassword',
): void => {
  if (isCommonPassword === null || !(isCommonPassword(password) || isOwnName(password, { username, email }))) return;
  const message = 'must not be a common password, your username, your email address or its part before the @';
  throw new AppError('CLIENT_PARAMS_VALIDATION_FAILED', { details: [{ field, message, code: 'too_common' }] });
};

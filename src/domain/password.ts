import { invalidField } from './errors/app-error.ts';
import { utf8Length } from './text.ts';
import { canonicalEmail, canonicalUsername } from './user.ts';

/** Limits of a password (ADR 0008). A password within them is used unmodified. */

/** In code points, so that a character outside the BMP counts as one. */
export const PASSWORD_MIN_CODE_POINTS = 8;
/** In bytes of UTF-8: bcrypt ignores any further bytes. argon2id reads longer passwords, but requests are limited. */
export const PASSWORD_MAX_BYTES = { bcrypt: 72, argon2id: 1_024 } as const;
export type HashScheme = keyof typeof PASSWORD_MAX_BYTES;

export type PasswordLimits = {
  /** In code points. */
  readonly minLength: number;
  readonly maxBytes: number;
};

/** Stored in place of a hash for a user who was imported without one. The service may ask the former system whether a password is right. */
export const UNKNOWN_PASSWORD = '$unknown$';

/** Stored in place of a hash for a user without a password. */
export const NO_PASSWORD = '$none$';

/** Whether a stored text is a hash with which this service can compare a password. */
export const isPasswordHash = (text: string): boolean => text !== UNKNOWN_PASSWORD && text !== NO_PASSWORD;

export type PasswordProblem = 'too_short' | 'too_long' | 'invalid_characters';

/** Some implementations of bcrypt end a password at NUL. Lone surrogates have no UTF-8 form, so several texts would share one hash. */
export const hasInvalidCharacters = (password: string): boolean => password.includes('\0') || !password.isWellFormed();

export const passwordProblem = (password: string, { minLength, maxBytes }: PasswordLimits): PasswordProblem | null => {
  if (hasInvalidCharacters(password)) return 'invalid_characters';
  if (utf8Length(password) > maxBytes) return 'too_long';
  return [...password].length < minLength ? 'too_short' : null;
};

/** Whether a hash distinguishes this text from all others. @param maxBytes how many bytes the hash reads. Default: those of bcrypt. */
export const isHashable = (password: string, maxBytes: number = PASSWORD_MAX_BYTES.bcrypt): boolean =>
  !hasInvalidCharacters(password) && utf8Length(password) <= maxBytes;

/** Whether a password is the username, the email address or its part before the `@`, in any letter case. */
export const isOwnName = (password: string, { username, email }: { username: string; email: string }): boolean => {
  const address = canonicalEmail(email);
  const names = [canonicalUsername(username), address, address.slice(0, address.lastIndexOf('@'))];
  return names.includes(password.toLowerCase());
};

const lettersOf = (text: string): string => text.toLowerCase().replace(/\P{L}/gu, '');

/** Whether a password has the letters of one of these words and no others: `acme-2026!` is a variant of Acme. */
const isVariantOf = (password: string, words: readonly string[]): boolean => {
  const letters = lettersOf(password);
  return letters !== '' && words.some((word) => lettersOf(word) === letters);
};

export type PasswordRules = {
  /** Whether a password is among those that attackers try first, in any letter case. `null`: no password is refused as too common. */
  readonly isCommonPassword: ((password: string) => boolean) | null;
  /** Whether a password is in a public list of leaked ones. `null`: no list is asked. Never rejects. */
  readonly isLeakedPassword?: ((password: string) => Promise<boolean>) | null | undefined;
  readonly productWords?: readonly string[];
};

/**
 * Refuses a new password that is easy to guess (ADR 0008). The caller has checked its length and its characters.
 * @param field the name of the password's field in the error's details.
 * @throws AppError CLIENT_PARAMS_VALIDATION_FAILED
 */
export const assertPasswordAllowed = async (
  { isCommonPassword, isLeakedPassword, productWords = [] }: PasswordRules,
  { password, username, email }: Readonly<Record<'password' | 'username' | 'email', string>>,
  field: 'password' | 'newPassword',
): Promise<void> => {
  const refusal = (code: 'too_common' | 'leaked', message: string) => invalidField({ field, message, code });
  if (isCommonPassword !== null && (isCommonPassword(password) || isOwnName(password, { username, email })))
    throw refusal(
      'too_common',
      'must not be a common password, your username, your email address or its part before the @',
    );
  if (isCommonPassword !== null && isVariantOf(password, productWords))
    throw refusal('too_common', 'must be more than the name of this service');
  if ((await isLeakedPassword?.(password)) === true)
    throw refusal('leaked', 'must not be a password that is known from a leak');
};

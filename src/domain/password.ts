import { canonicalEmail, canonicalUsername } from './account.ts';

/** Limits of a password (ADR 0005). What is inside them is used as it was typed, unmodified. */

/** Counted in code points, as a person counts. */
export const PASSWORD_MIN_CODE_POINTS = 8;
/** Counted in bytes of UTF-8: bcrypt reads no more than these. */
export const PASSWORD_MAX_BYTES = 72;

export type PasswordProblem = 'too_short' | 'too_long' | 'invalid_characters';

/**
 * Why a text can't be a password, or `null` when it can.
 * NUL ends a string for many a bcrypt; a lone surrogate has no UTF-8 form, so that several would share one hash.
 */
export const passwordProblem = (password: string): PasswordProblem | null => {
  if (password.includes('\0') || !password.isWellFormed()) return 'invalid_characters';
  if (utf8Length(password) > PASSWORD_MAX_BYTES) return 'too_long';
  if ([...password].length < PASSWORD_MIN_CODE_POINTS) return 'too_short';
  return null;
};

/** Whether bcrypt can tell this text from every other; login asks this before it compares. */
export const isHashable = (password: string): boolean => {
  const problem = passwordProblem(password);
  return problem === null || problem === 'too_short';
};

/** Whether a password is a name of its owner's own, in any letter case: the username, the email or the part before its `@`. */
export const isOwnName = (password: string, { username, email }: { username: string; email: string }): boolean => {
  const address = canonicalEmail(email);
  const names = [canonicalUsername(username), address, address.slice(0, address.lastIndexOf('@'))];
  return names.includes(password.toLowerCase());
};

/** Bytes of UTF-8; `TextEncoder` belongs to the platform and the domain has none. */
const utf8Length = (text: string): number => {
  let bytes = 0;
  for (const character of text) {
    const codePoint = character.codePointAt(0) ?? 0;
    if (codePoint < 0x80) bytes += 1;
    else if (codePoint < 0x800) bytes += 2;
    else bytes += codePoint < 0x10000 ? 3 : 4;
  }
  return bytes;
};

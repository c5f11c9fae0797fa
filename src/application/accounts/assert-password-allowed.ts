import { AppError } from '../../domain/errors/app-error.ts';
import { isOwnName } from '../../domain/password.ts';

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

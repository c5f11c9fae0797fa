import { AppError } from '../../domain/errors/app-error.ts';
import { isOwnName } from '../../domain/password.ts';
import type { PasswordBlocklist } from '../ports/password-blocklist.ts';

export type AssertPasswordAllowedDeps = {
  /** `null`: nobody looks what is chosen. */
  readonly blocklist: PasswordBlocklist | null;
};

/**
 * Refuses a new password that is guessed first (ADR 0005). What a password may hold at all has been looked at already.
 * @param field that the details name.
 * @throws AppError CLIENT_PARAMS_VALIDATION_FAILED
 */
export const assertPasswordAllowed =
  ({ blocklist }: AssertPasswordAllowedDeps) =>
  (password: string, owner: { username: string; email: string }, field = 'password'): void => {
    if (blocklist === null || !(blocklist.isCommon(password) || isOwnName(password, owner))) return;
    const message = 'must be neither a common password nor a name of its owner';
    throw new AppError('CLIENT_PARAMS_VALIDATION_FAILED', { details: [{ field, message, code: 'too_common' }] });
  };

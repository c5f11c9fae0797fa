import { AppError } from '../../domain/errors/app-error.ts';
import { type PublicUser, publicUser } from '../../domain/user.ts';
import type { UserRepository } from '../ports/user-repository.ts';

/**
 * The user as stored now, not as the access token remembers.
 * @throws AppError DB_RECORD_NOT_FOUND
 */
export const getCurrentUser =
  ({ users }: { readonly users: UserRepository }) =>
  async (userId: string): Promise<PublicUser> => {
    const user = await users.findById(userId);
    if (user === null) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user does not exist' });
    return publicUser(user);
  };

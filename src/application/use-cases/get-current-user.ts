import { AppError } from '../../domain/errors/app-error.ts';
import { type PublicUser, publicUser } from '../../domain/user.ts';
import type { UserRepository } from '../ports/user-repository.ts';

export type GetCurrentUserDeps = { readonly users: UserRepository };

/**
 * The user as stored now, which may differ from the claims of the access token.
 * @throws AppError DB_RECORD_NOT_FOUND
 */
export const getCurrentUser =
  ({ users }: GetCurrentUserDeps) =>
  async (userId: string): Promise<PublicUser> => {
    const user = await users.findById(userId);
    if (user === null) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user does not exist' });
    return publicUser(user);
  };

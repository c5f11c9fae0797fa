import type { User } from '../../domain/user.ts';
import type { Clock } from '../ports/clock.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { UserRepository } from '../ports/user-repository.ts';

type RehashDeps = {
  readonly users: UserRepository;
  readonly hasher: PasswordHasher;
  readonly clock: Clock;
  readonly onRehashFailed?: ((error: unknown) => void) | undefined;
};

/**
 * Replaces a hash that was made at a lower cost than is configured now. If the password was changed in the meantime, or
 * rehashing fails, the stored hash stays as it is. Never rejects.
 * @param password which has been verified against the user's hash.
 * @returns the user as stored now.
 */
export const rehashIfNeeded = async (
  { users, hasher, clock, onRehashFailed }: RehashDeps,
  user: User,
  password: string,
): Promise<User> => {
  if (!hasher.needsRehash(user.passwordHash)) return user;
  try {
    const passwordHash = await hasher.hash(password);
    const updatedAt = clock.now();
    const changed = await users.setPasswordHash(user.id, {
      passwordHash,
      isOfNewPassword: false,
      now: updatedAt,
      replaces: user.passwordHash,
    });
    return changed ? { ...user, passwordHash, updatedAt } : user;
  } catch (error) {
    onRehashFailed?.(error);
    return user;
  }
};

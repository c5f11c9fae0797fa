import type { User } from '../../domain/user.ts';
import type { Clock } from '../ports/clock.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { UserRepository } from '../ports/user-repository.ts';

export type RehashDeps = {
  readonly users: UserRepository;
  readonly hasher: PasswordHasher;
  readonly clock: Clock;
  /** Told why a hash could not be renewed. */
  readonly onRehashFailed?: ((error: unknown) => void) | undefined;
};

/**
 * Renews a hash that costs less than one does now, while its password is at hand. A password that was changed meanwhile stays
 * changed, and a failure leaves the hash as it was.
 * @param password that was verified against the user's hash.
 * @returns the user as stored now.
 */
export const rehashIfNeeded =
  ({ users, hasher, clock, onRehashFailed }: RehashDeps) =>
  async (user: User, password: string): Promise<User> => {
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

import type { UserRepository } from '../../application/ports/user-repository.ts';
import { canonicalEmail, canonicalUsername } from '../../domain/account.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { User } from '../../domain/user.ts';

/** Keeps users in memory until the process ends. For tests and development. */
export const memoryUserRepository = (): UserRepository => {
  const byId = new Map<string, User>();
  const byUsername = new Map<string, User>();
  const byEmail = new Map<string, User>();
  const copy = (user: User | undefined): User | null => (user === undefined ? null : { ...user });

  return {
    async add(user) {
      const username = canonicalUsername(user.username);
      const email = canonicalEmail(user.email);
      if (byId.has(user.id)) throw new AppError('DB_UNIQUE_VIOLATION');
      if (byUsername.has(username) || byEmail.has(email)) throw new AppError('AUTH_USER_DUPLICATE');
      const stored = { ...user, email };
      byId.set(stored.id, stored);
      byUsername.set(username, stored);
      byEmail.set(email, stored);
    },
    findById: async (id) => copy(byId.get(id)),
    findByUsername: async (username) => copy(byUsername.get(canonicalUsername(username))),
    findByEmail: async (email) => copy(byEmail.get(canonicalEmail(email))),
    async setPasswordHash(id, { passwordHash, isOfNewPassword, now, replaces }) {
      const user = byId.get(id);
      if (user === undefined || (replaces !== undefined && user.passwordHash !== replaces)) return false;
      const passwordChangedAt = isOfNewPassword ? now : user.passwordChangedAt;
      const changed = { ...user, passwordHash, updatedAt: now, passwordChangedAt };
      byId.set(id, changed);
      byUsername.set(canonicalUsername(changed.username), changed);
      byEmail.set(changed.email, changed);
      return true;
    },
    async remove(id) {
      const user = byId.get(id);
      if (user === undefined) return;
      byId.delete(id);
      byUsername.delete(canonicalUsername(user.username));
      byEmail.delete(user.email);
    },
  };
};

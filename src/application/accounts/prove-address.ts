import type { Origin } from '../../domain/event.ts';
import type { User } from '../../domain/user.ts';
import type { NoticeDeps } from '../notices.ts';
import type { Stores } from '../ports/transactions.ts';
import { enqueue, record } from '../use-case.ts';
import { type FirstProofDeps, removeAddedBeforeProof } from './remove-added.ts';

export type ProveAddressDeps = FirstProofDeps & NoticeDeps;

type Proof = {
  /** Of a password that nobody knows. */
  readonly randomHash: string;
  readonly locales: readonly string[];
  readonly origin: Origin;
};

/**
 * Marks the address of a user who logs in as verified. Anybody can have registered with it before, so the password goes with all that was
 * added to the account, and the owner is told. In a transaction that has locked the user. @returns the user as stored now.
 */
export const proveAddress = async (
  deps: ProveAddressDeps,
  stores: Stores,
  user: User,
  { randomHash: passwordHash, locales, origin }: Proof,
): Promise<User> => {
  const { id: userId, email: to } = user;
  const now = deps.clock.now();
  await stores.users.setPasswordHash(userId, { passwordHash, isOfNewPassword: true, now });
  await stores.users.update(userId, { emailVerifiedAt: now, now });
  await record(deps, stores, origin, [{ userId, kind: 'email-verified' }]);
  await removeAddedBeforeProof(deps, stores, user, { reason: 'address-proven', origin, locales });
  if (deps.notices?.has('password')) await enqueue(deps, stores, origin, [{ kind: 'password-removed', userId, to }]);
  return (await stores.users.lock(userId)) ?? user;
};

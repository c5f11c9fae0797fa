import { availableParallelism } from 'node:os';
import bcrypt from 'bcrypt';
import type { PasswordHasher } from '../../application/ports/password-hasher.ts';
import { isHashable } from '../../domain/password.ts';
import { boundedQueue, type QueueLoad } from './bounded-queue.ts';

export type BcryptOptions = {
  /** The logarithm of the rounds. SPEC "Password handling": 10. */
  readonly cost?: number;
  /**
   * How many hashes are computed at once. By default one more than there are cores, so that none of these is idle between two,
   * and one less than there are threads, so that a token never waits for a password.
   */
  readonly width?: number;
  /** Milliseconds a hash may wait for its turn. */
  readonly maxWait?: number;
};

/** Of libuv's thread pool, which the hashes share with all that signs and verifies. */
const THREADS = 4;
const USUAL_COST = 10;
/** Milliseconds that a hash of the usual cost may take; each step of the cost doubles it. */
const FIRST_GUESS = 50;

/** The well-formed hash of no known password: 22 characters of salt and 31 of digest, all zero. */
const hashOfNobody = (cost: number): string => `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`;

/**
 * bcrypt. It shares libuv's thread pool with all that signs and verifies tokens, so hashes take turns before they enter it:
 * a crowd of log-ins then delays log-ins alone.
 */
export const bcryptPasswordHasher = ({
  cost = USUAL_COST,
  width = Math.min(availableParallelism() + 1, THREADS - 1),
  maxWait = 10_000,
}: BcryptOptions = {}): PasswordHasher & { readonly load: () => QueueLoad } => {
  const inTurn = boundedQueue({ width, maxWait, firstGuess: FIRST_GUESS * 2 ** (cost - USUAL_COST) });
  return {
    hash: async (password) => {
      if (!isHashable(password)) throw new RangeError('This password cannot be hashed.');
      return inTurn(() => bcrypt.hash(password, cost));
    },
    verify: async (password, hash) => {
      const matches = await inTurn(() => bcrypt.compare(password, hash ?? hashOfNobody(cost)));
      return matches && hash !== null && isHashable(password);
    },
    needsRehash: (hash) => bcrypt.getRounds(hash) < cost,
    load: inTurn.load,
  };
};

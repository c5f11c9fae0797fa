import { availableParallelism } from 'node:os';
import bcrypt from 'bcrypt';
import type { PasswordHasher } from '../../application/ports/password-hasher.ts';
import { isHashable } from '../../domain/password.ts';
import { boundedQueue, type QueueLoad } from './bounded-queue.ts';

export type BcryptOptions = {
  /** The binary logarithm of the number of rounds. SPEC "Password handling": 10. */
  readonly cost?: number;
  /**
   * How many hashes are computed at once. By default one more than there are cores, so that no core is idle between two hashes,
   * but less than there are threads, so that signing and verifying tokens never waits for a hash.
   */
  readonly width?: number;
  /** Milliseconds that a hash may wait in the queue. */
  readonly maxWait?: number;
};

/** The default size of libuv's thread pool. */
const THREADS = 4;
const DEFAULT_COST = 10;
/** Milliseconds that a hash of the default cost is expected to take; each further step of cost doubles it. */
const EXPECTED_DURATION = 50;

/** A well-formed hash without a known password, for accounts that do not exist: 22 characters of salt and 31 of digest, all zero. */
const dummyHash = (cost: number): string => `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`;

/**
 * bcrypt. It shares libuv's thread pool with the signing and verification of tokens, so hashes wait in a queue of their own:
 * many concurrent log-ins delay log-ins only.
 */
export const bcryptPasswordHasher = ({
  cost = DEFAULT_COST,
  width = Math.min(availableParallelism() + 1, THREADS - 1),
  maxWait = 10_000,
}: BcryptOptions = {}): PasswordHasher & { readonly load: () => QueueLoad } => {
  const enqueue = boundedQueue({ width, maxWait, expectedDuration: EXPECTED_DURATION * 2 ** (cost - DEFAULT_COST) });
  return {
    hash: async (password) => {
      if (!isHashable(password)) throw new RangeError('This password cannot be hashed.');
      return enqueue(() => bcrypt.hash(password, cost));
    },
    verify: async (password, hash) => {
      const matches = await enqueue(() => bcrypt.compare(password, hash ?? dummyHash(cost)));
      return matches && hash !== null && isHashable(password);
    },
    needsRehash: (hash) => bcrypt.getRounds(hash) < cost,
    load: enqueue.load,
  };
};

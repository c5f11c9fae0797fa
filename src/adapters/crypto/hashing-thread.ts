import bcrypt from 'bcrypt';
import { matchesHash } from './foreign/matches-hash.ts';
import { readHash } from './foreign/read-hash.ts';

/** A task of a hashing thread: to compute a hash, or to compare a password with one, of this service or of another system. */
export type HashingTask =
  | { readonly password: string; readonly cost: number }
  | { readonly password: string; readonly hash: string }
  | {
      readonly password: string;
      readonly foreignHash: string;
      /** With which a wrong password is compared as well. */
      readonly dummyHash: string;
    };

/** Runs in a thread of its own, which it blocks. @returns the hash, or whether the password matches. */
export default (task: HashingTask): string | boolean => {
  if ('cost' in task) return bcrypt.hashSync(task.password, task.cost);
  return 'hash' in task ? bcrypt.compareSync(task.password, task.hash) : matchesForeign(task);
};

/**
 * A wrong password never takes less time than with a hash of this service. A right one takes it for the new hash. What another bcrypt hash takes is
 * enough, if its cost is as high.
 */
const matchesForeign = ({
  password,
  foreignHash,
  dummyHash,
}: Extract<HashingTask, { foreignHash: string }>): boolean => {
  const hash = readHash(foreignHash);
  const isComparable = !('problem' in hash) && hash.scheme !== 'digest';
  if (isComparable && matchesHash(password, hash)) return true;
  const isSlow = isComparable && hash.scheme === 'bcrypt' && bcrypt.getRounds(hash.hash) >= bcrypt.getRounds(dummyHash);
  if (!isSlow) bcrypt.compareSync(password, dummyHash);
  return false;
};

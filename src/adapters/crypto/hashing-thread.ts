import bcrypt from 'bcrypt';
import type { HashScheme } from '../../domain/password.ts';
import { argon2idHash } from './argon2id.ts';
import type { SlowHash } from './foreign/foreign-hash.ts';
import { matchesHash } from './foreign/matches-hash.ts';
import { readHash } from './foreign/read-hash.ts';

/** A task of a hashing thread: to hash a password, or to compare it with a hash. */
export type HashingTask =
  | { readonly password: string; readonly scheme: HashScheme; readonly cost: number }
  | {
      readonly password: string;
      /** The stored hash; `null` if there is none. */
      readonly hash: string | null;
      /** Hashes of no known password, at the cost of this service, for `compare`. */
      readonly dummies: readonly string[];
      /** Whether a right password has to take as long as a wrong one. */
      readonly hidesMatch: boolean;
    };

/** Does a task, which blocks the thread. @returns the hash, or whether the password matches. */
export default (task: HashingTask): string | boolean => {
  if ('dummies' in task) return compare(task);
  return task.scheme === 'bcrypt' ? bcrypt.hashSync(task.password, task.cost) : argon2idHash(task.password);
};

/** With a wrong password, takes at least the time of a comparison with each dummy: a dummy is skipped only if the stored hash costs as much. */
const compare = ({ password, hash, dummies, hidesMatch }: Extract<HashingTask, { dummies: unknown }>): boolean => {
  const stored = hash === null ? null : parseHash(hash);
  const isRight = stored !== null && matchesHash(password, stored);
  if (isRight && !hidesMatch) return true;
  for (const dummy of dummies.map(parseHash))
    if (dummy !== null && !(stored !== null && costsAsMuch(stored, dummy))) matchesHash(password, dummy);
  return isRight;
};

/** A bcrypt hash of this service. It may cost more than `readHash` accepts, which limits the cost of imported hashes. */
const OWN_BCRYPT = /^\$2[aby]\$\d\d\$[./\w]{53}$/;

const parseHash = (text: string): SlowHash | null => {
  if (OWN_BCRYPT.test(text)) return { scheme: 'bcrypt', hash: text, digest: null };
  const hash = readHash(text);
  return 'problem' in hash || hash.scheme === 'digest' ? null : hash;
};

const costsAsMuch = (hash: SlowHash, dummy: SlowHash): boolean => {
  if (hash.scheme === 'bcrypt' && dummy.scheme === 'bcrypt')
    return bcrypt.getRounds(hash.hash) >= bcrypt.getRounds(dummy.hash);
  return (
    hash.scheme === 'argon2' &&
    dummy.scheme === 'argon2' &&
    hash.memoryKib * hash.passes >= dummy.memoryKib * dummy.passes
  );
};

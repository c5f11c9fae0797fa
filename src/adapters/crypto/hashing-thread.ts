import bcrypt from 'bcrypt';

/** A task of a hashing thread: to compute a hash, or to compare a password with one. */
export type HashingTask =
  | { readonly password: string; readonly cost: number }
  | { readonly password: string; readonly hash: string };

/** Runs in a thread of its own, which it blocks. @returns the hash, or whether the password matches. */
export default (task: HashingTask): string | boolean =>
  'hash' in task ? bcrypt.compareSync(task.password, task.hash) : bcrypt.hashSync(task.password, task.cost);

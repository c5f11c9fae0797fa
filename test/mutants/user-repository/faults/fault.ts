import type { UserRepository } from '../../../../src/application/ports/user-repository.ts';
import type { User } from '../../../../src/domain/user.ts';
import { type Access, translating } from '../../harness/shared-rows.ts';
import { correctUsers } from '../correct.ts';

type Wrong = (
  connection: { readonly access: Access<User>; readonly untranslated: Access<User> },
  correct: UserRepository,
) => Partial<UserRepository>;

/** The methods of an adapter that are wrong, and the title of the test that has to catch it. */
type Fault = { readonly wrong: Wrong; readonly caughtBy: string };

/** By what is wrong. */
export type Faults = Readonly<Record<string, Fault>>;

/** The correct adapter, except for this fault. */
export const withFault =
  ({ wrong }: Fault) =>
  (untranslated: Access<User>): UserRepository => {
    const correct = correctUsers(untranslated);
    return { ...correct, ...wrong({ access: translating(untranslated), untranslated }, correct) };
  };

/** A name as a pattern of SQL's `like`. */
export const patternOf = (name: string): RegExp => {
  const pattern = name
    .replaceAll(/[.*+?^$()|[\]\\{}]/g, '\\$&')
    .replaceAll('%', '.*')
    .replaceAll('_', '.');
  return new RegExp(`^${pattern}$`, 'i');
};

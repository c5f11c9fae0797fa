import { typedAccount } from '../../../adapters/json/fields.ts';
import { accountKind, isId, type User } from '../../../domain/user.ts';
import { CommandError, invalidArguments } from '../../command-error.ts';
import { printable } from '../../printable.ts';
import type { Accounts } from './open-accounts.ts';

export const nameOf = ({ username, email, id }: Pick<User, 'username' | 'email' | 'id'>): string =>
  printable(`${username} <${email}> (${id})`);

/** What USER names. @throws CommandError before anything is opened, if it names nobody */
export const accountIn = (given: string): string => {
  const account = typedAccount(given);
  if (account === '') throw invalidArguments('USER is empty.');
  return account;
};

export const findUser = async ({ users }: Pick<Accounts, 'users'>, account: string): Promise<User> => {
  const id = account.toUpperCase();
  const byId = isId(id) ? await users.findById(id) : null;
  const byName = await (accountKind(account) === 'email' ? users.findByEmail(account) : users.findByUsername(account));
  // Usernames cannot have the form of an id any more; older ones may.
  if (byId !== null && byName !== null && byId.id !== byName.id) {
    const both = `This is the id of ${nameOf(byId)}, and the name of ${nameOf(byName)}.`;
    throw new CommandError('ambiguous', `${both} Give the email address of the one that you mean.`, 2);
  }
  const user = byId ?? byName;
  if (user === null) throw new CommandError('not-found', 'There is no user with this username, email address or id.');
  return user;
};

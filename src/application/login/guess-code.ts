import type { Origin } from '../../domain/event.ts';
import type { User } from '../../domain/user.ts';
import { type AskedLogin, guessCode } from '../login-code.ts';
import { findByAccount, type Service } from '../service.ts';
import { reportRefusal } from './store-login.ts';

/** A wrong code is in the history of every user whose code it was compared with. */
export const guess = async (deps: Service, asked: AskedLogin, typed: string, origin: Origin) => {
  const owners = new Map<string, User | null>();
  for (const { account } of asked.codes)
    if (!owners.has(account)) owners.set(account, await findByAccount(deps, account));
  const users = [...owners.values()].flatMap((owner) => owner ?? []);
  const distinct = [...new Map(users.map((user) => [user.id, user])).values()];
  return guessCode(deps, asked, owners, typed).catch(reportRefusal(deps, distinct, origin));
};

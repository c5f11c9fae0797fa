import { accountData, eventsData, userData } from '../../../application/steps/account-data.ts';
import type { User } from '../../../domain/user.ts';
import { type Answer, answer } from './answer.ts';
import type { UserOptions } from './arguments.ts';
import type { Accounts } from './open-accounts.ts';
import { accountText, eventsTable, usersTable } from './tables.ts';

/** The commands that only read. */
export const find = (found: User): Answer => {
  const user = userData(found);
  return answer({ user }, usersTable([user]));
};

export const show = async (accounts: Accounts, found: User): Promise<Answer> => {
  const data = await accountData(accounts, found, accounts.clock.now());
  return answer(data, accountText(data));
};

export const exported = async (accounts: Accounts, found: User): Promise<Answer> => {
  const data = await accountData(accounts, found, accounts.clock.now());
  return answer({ ...data, events: await eventsData(accounts.events, found.id) }, '');
};

const LATEST = 50;
const MORE = `These are the latest ${LATEST}. For older ones use --since or --until.\n`;

/** Without a range, the latest ones. */
export const events = async (
  { events: stored }: Pick<Accounts, 'events'>,
  { id: userId }: Pick<User, 'id'>,
  { since, until }: Pick<UserOptions, 'since' | 'until'>,
): Promise<Answer> => {
  const all = await eventsData(stored, userId);
  const isLatest = since === null && until === null;
  const listed = isLatest ? all.slice(0, LATEST) : all.filter(({ at }) => at >= (since ?? at) && at <= (until ?? at));
  const text = listed.length === 0 ? 'No events.\n' : eventsTable(listed);
  return answer({ userId, events: listed }, isLatest && all.length > LATEST ? text + MORE : text);
};

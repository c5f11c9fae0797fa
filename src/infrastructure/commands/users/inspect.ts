import {
  type AccountData,
  accountData,
  eventData,
  latestEvents,
  userData,
} from '../../../application/steps/account-data.ts';
import type { User } from '../../../domain/user.ts';
import type { UserOptions } from './arguments.ts';
import type { Accounts } from './open-accounts.ts';
import { accountText, eventsTable, usersTable } from './tables.ts';

/** What a command answers: `report` for programs, `text` for people. */
export type Answer = { readonly report: object; readonly text: string };

/** The commands that only read. */
export const find = (found: User): Answer => {
  const user = userData(found);
  return { report: { user }, text: usersTable([user]) };
};

export const show = async (accounts: Accounts, found: User): Promise<Answer> => {
  const { events: _, ...data } = await accountData(accounts, found, accounts.clock.now(), 0);
  return { report: data, text: accountText(data) };
};

/** The latest ones, if no range is asked for. */
const LATEST = 50;

export const events = async (
  accounts: Accounts,
  found: User,
  { since, until }: Pick<UserOptions, 'since' | 'until'>,
): Promise<Answer> => {
  const listed =
    since === null && until === null ? await latest(accounts, found) : await between(accounts, found, { since, until });
  const { id: userId } = found;
  return { report: { userId, events: listed }, text: eventsTable(listed) };
};

/** Always for programs. */
export const exported = async (accounts: Accounts, found: User): Promise<Answer> => {
  const data = await accountData(accounts, found, accounts.clock.now());
  return { report: data, text: '' };
};

const latest = async (accounts: Accounts, { id: userId }: User): Promise<AccountData['events']> => {
  const page = await accounts.events.list({ userId, before: null, limit: LATEST });
  return page.map(eventData);
};

type Range = { readonly since: number | null; readonly until: number | null };

const between = async (accounts: Accounts, { id }: User, { since, until }: Range): Promise<AccountData['events']> => {
  const all = await latestEvents(accounts.events, id);
  return all.filter(({ at }) => (since === null || at >= since) && (until === null || at <= until));
};

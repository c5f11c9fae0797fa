import { countUsers, listUsers, userData } from '../../../application/accounts/account-data.ts';
import { listInvitations } from '../../../application/storage/links.ts';
import { INVITATIONS_AT_MOST } from '../../../domain/registration.ts';
import { isId } from '../../../domain/user.ts';
import { invalidArguments } from '../../command-error.ts';
import { type Action, action } from '../command.ts';
import type { Opening } from './open-accounts.ts';
import { invitationsTable, usersTable } from './tables.ts';

const MOST = 1_000;

const limitIn = (text = '50'): number => {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MOST) throw invalidArguments(`--limit needs a number from 1 to ${MOST}.`);
  return limit;
};

/** The commands that are about no user in particular. */
export const listActions = (opening: Opening): Readonly<Record<string, Action>> => ({
  list: action({
    options: { json: true, newest: true, contains: 'TEXT', limit: 'N', after: 'ID' },
    does: 'users, the oldest or the newest first, with a part of the username or address (of one or two characters: its beginning): 50, from the one after ID on',
    run: ({ options: { newest, contains = null, after = null, ...options }, env }) => {
      const limit = limitIn(options.limit);
      if (after !== null && !isId(after)) throw invalidArguments('--after needs the id of a user.');
      return opening(env, async (accounts) => {
        const page = await listUsers(accounts)({ contains, after, newestFirst: newest, limit });
        const users = page.users.map(userData);
        const more = page.next === null ? '' : `There are more: --after ${page.next}\n`;
        return {
          json: { users, next: page.next },
          text: users.length === 0 ? 'No users.\n' : usersTable(users) + more,
        };
      });
    },
  }),
  count: action({
    options: { json: true },
    does: 'how many users there are',
    run: ({ env }) =>
      opening(env, async (accounts) => {
        const count = await countUsers(accounts)();
        return { json: { count }, text: `${count}\n` };
      }),
  }),
  invitations: action({
    options: { json: true },
    does: 'the invitations that were neither used nor have expired',
    run: ({ env }) =>
      opening(env, async (accounts) => {
        const open = await listInvitations(accounts.records, accounts.clock.now(), INVITATIONS_AT_MOST);
        const invitations = open.map(({ tokenHash: _, ...invitation }) => invitation);
        return { json: { invitations }, text: open.length === 0 ? 'No invitations.\n' : invitationsTable(invitations) };
      }),
  }),
});

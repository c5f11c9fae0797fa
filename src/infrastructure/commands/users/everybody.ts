import { userData } from '../../../application/accounts/account-data.ts';
import { countUsers, listUsers } from '../../../application/accounts/list-accounts.ts';
import { endAllSessions } from '../../../application/sessions/end-all.ts';
import { isId } from '../../../domain/user.ts';
import { invalidArguments } from '../../command-error.ts';
import { type Action, type Answer, action } from '../command.ts';
import type { Terminal } from '../terminal.ts';
import { assertAgreed, notDone, operatorNamed } from './changes.ts';
import type { Accounts, Opening } from './open-accounts.ts';
import { usersTable } from './tables.ts';

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
});

type Asked = {
  readonly as: string | undefined;
  readonly note: string | null;
  readonly dryRun: boolean;
  readonly ask: Terminal['ask'];
};

/** Ends the sessions of all users. Instances of the service remove them. */
export const endSessionsOfAll = async (accounts: Accounts, { as, note, dryRun, ask }: Asked): Promise<Answer> => {
  if (note === null) throw invalidArguments('--all needs --reason, which the users can read.');
  const intended = `End all sessions of ${await countUsers(accounts)()} users`;
  const about = { command: 'end-sessions', all: true, dryRun };
  if (dryRun) return notDone(about, intended);
  await assertAgreed(`${intended}?`, ask);
  await endAllSessions(accounts)(operatorNamed(as), note);
  return {
    json: { ...about, changed: true },
    text: 'All sessions have ended. The service removes them in the background.\n',
  };
};

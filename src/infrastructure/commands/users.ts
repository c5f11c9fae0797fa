import { ACTS } from '../../adapters/http/routes/back-office/acts.ts';
import { accountData, type EventData, eventsData, userData } from '../../application/accounts/account-data.ts';
import { withoutOperatorName } from '../../domain/event.ts';
import type { User } from '../../domain/user.ts';
import { CommandError, invalidArguments } from '../command-error.ts';
import { date } from '../config/formats.ts';
import type { Env } from '../config/variables.ts';
import { parseConfig } from '../config.ts';
import { type Action, type Answer, action, type Command, jsonLine } from './command.ts';
import { actionOf, commandActions } from './users/acts.ts';
import { exportAll, importAction } from './users/files.ts';
import { type Accounts, accountIn, findUser, type StorageOverrides, withAccounts } from './users/open-accounts.ts';
import { accountText, eventsTable, listActions, usersTable } from './users/tables.ts';

const NOTES = `USER is a username, an email address or an id, in any letter case. The command works beside the service. Times are in UTC.
disable, end-sessions, remove-factors, delete and import ask for confirmation.

import reads lines of JSON, or with --from the export of another system; --passwords is its file with the password hashes, --hash-config one with
the parameters of the hashes. A line that is refused is named on standard output, by its number. --map gets a line { "old", "new" } for each id.
export --all writes such lines, WITH THE SECRETS OF ALL USERS; --out is a new file that only its owner can read.

--json     one object on standard output, or { "error": { "code", "message" } }; not of import
--dry-run  says what would be changed, and changes nothing
--yes      does not ask
--reason   why, which the user can read
--as NAME  who makes the change, for the events and the audit log; without it, the system's user

Exit status: 0 done, 1 refused (of import: some lines) or failed, 2 invalid arguments or configuration, 3 no such user, invitation or identity.`;

const READ_ACTION = { args: ['USER'], options: { json: true } } as const;

export const users = (overrides: StorageOverrides = {}): Command => {
  const runWithAccounts = withAccounts(overrides);
  const withUser = async (env: Env, account: string, work: (accounts: Accounts, user: User) => Promise<Answer>) => {
    const name = accountIn(account);
    return runWithAccounts(env, async (accounts) => work(accounts, await findUser(accounts, name)));
  };
  const { 'end-all-sessions': _, ...acts } = commandActions(runWithAccounts);
  return {
    actions: {
      find: action({
        ...READ_ACTION,
        does: 'the user with this username, email address or id',
        run: ({ args: [name = ''], env }) =>
          withUser(env, name, async (_accounts, found) => {
            const user = userData(found);
            return { json: { user }, text: usersTable([user]) };
          }),
      }),
      show: action({
        ...READ_ACTION,
        does: 'the account, its sessions and devices, its ways to log in, its open links and the mail that waits for it',
        run: ({ args: [name = ''], env }) =>
          withUser(env, name, async (accounts, found) => {
            const json = await accountData(accounts, found, accounts.clock.now());
            return { json, text: accountText(json) };
          }),
      }),
      events: action({
        args: READ_ACTION.args,
        options: { json: true, since: 'TIME', until: 'TIME' },
        does: 'what happened to the account, the latest first: 50 events, or those of a range',
        run: async ({ args: [name = ''], options, env }) => {
          const [since, until] = [timeIn('--since', options.since), timeIn('--until', options.until)];
          if (since !== null && until !== null && since > until)
            throw invalidArguments('--since has to be before --until.');
          return withUser(env, name, async (accounts, { id }) =>
            eventsAnswer(id, await eventsData(accounts.records, id), since, until),
          );
        },
      }),
      export: action({
        args: ['[USER]'],
        options: { json: true, all: true, out: 'FILE', yes: true },
        does: 'everything that is stored about the user as JSON, without secrets;\n    with --all, all users with their secrets, as import reads them',
        run: async ({ args: [name], options: { all, out, yes }, env, terminal }) => {
          if (all === (name !== undefined)) throw invalidArguments('Expected either USER or --all.');
          if (all && overrides.storage !== undefined)
            throw new CommandError('own-storage', '--all is for the database of DATABASE_URL.', 1);
          if (name === undefined) return exportAll({ config: parseConfig(env), terminal, out, yes });
          return withUser(env, name, async (accounts, found) => {
            const data = await accountData(accounts, found, accounts.clock.now());
            // Users get this export, and must not learn the names of operators.
            const events = (await eventsData(accounts.records, found.id)).map(withoutOperatorName);
            return { text: jsonLine({ ...data, events }) };
          });
        },
      }),
      import: importAction(runWithAccounts, overrides),
      ...acts,
      'end-sessions': endSessions(
        actionOf(runWithAccounts, ACTS['end-sessions']),
        actionOf(runWithAccounts, ACTS['end-all-sessions']),
      ),
      ...listActions(runWithAccounts),
    },
    notes: NOTES,
  };
};

const endSessions = (endOfUser: Action, endAll: Action): Action => ({
  ...endOfUser,
  args: ['[USER]'],
  options: { ...endOfUser.options, all: true },
  does: 'End all sessions of the user; with --all, those of all users',
  run: async (input) => {
    const isAll = Boolean(input.options.all);
    if (isAll === input.args.length > 0) throw invalidArguments('Expected either USER or --all.');
    return (isAll ? endAll : endOfUser).run(input);
  },
});

/** Reads a time as epoch milliseconds. A time without a zone is in UTC, like the times in the tables. */
const timeIn = (option: string, text: string | undefined): number | null => {
  if (text === undefined) return null;
  const time = date.parse(/T[\d:.]+$/.test(text) ? `${text}Z` : text);
  if (time === undefined)
    throw invalidArguments(`${option} needs a time such as 2026-11-22T10:02, in UTC, or 2026-11-22T11:02+01:00.`);
  return time;
};

const LATEST = 50;
const MORE = `These are the latest ${LATEST}. For older ones use --since or --until.\n`;

/** Lists events from `since` to `until` (epoch milliseconds), or if both are `null`, the latest ones. */
export const eventsAnswer = (userId: string, all: readonly EventData[], since: number | null, until: number | null) => {
  const isLatest = since === null && until === null;
  const events = isLatest ? all.slice(0, LATEST) : all.filter(({ at }) => at >= (since ?? at) && at <= (until ?? at));
  const text = events.length === 0 ? 'No events.\n' : eventsTable(events);
  return { json: { userId, events }, text: isLatest && all.length > LATEST ? text + MORE : text };
};

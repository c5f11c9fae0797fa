import { type AccountData, type EventData, userData } from '../../../application/accounts/account-data.ts';
import { listUsers } from '../../../application/accounts/list-users.ts';
import { listInvitations } from '../../../application/storage/credentials.ts';
import { countUsers } from '../../../application/storage/rows.ts';
import { MAX_INVITATIONS } from '../../../domain/registration.ts';
import { isConfirmed } from '../../../domain/second-factor.ts';
import { isId } from '../../../domain/user.ts';
import { invalidArguments } from '../../command-error.ts';
import { wholeNumber } from '../../config/formats.ts';
import { printable } from '../../texts.ts';
import { type Action, action, withTimes } from '../command.ts';
import type { WithAccounts } from './open-accounts.ts';

/** The titles of columns, and for each the member of a row that it shows. */
type Columns = Readonly<Record<string, string>>;

const cellOf = (value: unknown): string => {
  const isEmpty = typeof value === 'object' && Object.keys(value ?? {}).length === 0;
  if (value === undefined || isEmpty) return '–';
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value));
};

const alignColumns = (lines: readonly (readonly string[])[]): string => {
  const widths = lines[0]?.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0))) ?? [];
  const paddedLines = lines.map((line) => line.map((text, at) => text.padEnd(widths[at] ?? 0)).join('  '));
  return paddedLines.map((line) => `${line.trimEnd()}\n`).join('');
};

const table = (rows: readonly object[], columns: Columns): string => {
  const dataRows = rows.map((row) => Object(withTimes('', row)));
  const members = Object.values(columns);
  return alignColumns([Object.keys(columns), ...dataRows.map((row) => members.map((name) => cellOf(row[name])))]);
};

type UserData = AccountData['user'];

const withState = (user: UserData) => ({
  ...user,
  state: user.disabledAt === null ? 'enabled' : `disabled ${new Date(user.disabledAt).toISOString()}`,
});

const USER_COLUMNS = { ID: 'id', USERNAME: 'username', EMAIL: 'email', REGISTERED: 'createdAt', STATE: 'state' };

export const usersTable = (users: readonly UserData[]): string => table(users.map(withState), USER_COLUMNS);

const INVITATION = { ID: 'id', EMAIL: 'email', INVITED: 'createdAt', EXPIRES: 'expiresAt', ATTRIBUTES: 'attributes' };

const EVENT_COLUMNS = { TIME: 'at', EVENT: 'kind', REASON: 'reason', BY: 'actor', SESSION: 'sessionId' };
const REQUEST_COLUMNS = { ADDRESS: 'address', REQUEST: 'requestId', DEVICE: 'userAgent' };

export const eventsTable = (events: readonly EventData[]): string => {
  const rows = events.map(({ kind, count, reason, note, ...event }) => ({
    ...event,
    kind: count > 1 ? `${kind} (${count} times)` : kind,
    reason: note === null ? reason : [reason, note].filter(Boolean).join(': '),
  }));
  return table(rows, { ...EVENT_COLUMNS, ...REQUEST_COLUMNS });
};

const USER_DETAILS: Columns = {
  ...{ id: 'id', username: 'username', email: 'email', state: 'state', registered: 'createdAt', updated: 'updatedAt' },
  ...{
    'password changed': 'passwordChangedAt',
    'email verified': 'emailVerifiedAt',
    'second factor': 'secondFactorAt',
  },
  ...{ attributes: 'attributes', language: 'locale', 'recovery codes': 'recoveryCodes' },
};

const USE_COLUMNS = { ADDED: 'createdAt', 'LAST USED': 'lastUsedAt' };
const LIST_COLUMNS = {
  sessions: {
    ...{ SESSION: 'id', OPENED: 'createdAt', 'LAST USED': 'lastUsedAt', ADDRESS: 'address', BOUND: 'binding' },
    DEVICE: 'userAgent',
  },
  rememberedDevices: { 'REMEMBERED DEVICE': 'id', SINCE: 'createdAt', ADDRESS: 'address', DEVICE: 'userAgent' },
  passkeys: { PASSKEY: 'name', ...USE_COLUMNS },
  identities: { IDENTITY: 'provider', SUBJECT: 'subject', EMAIL: 'email', ...USE_COLUMNS },
  factors: { 'AUTHENTICATOR APP': 'id', ADDED: 'confirmedAt' },
  links: { LINK: 'purpose', EMAIL: 'email', EXPIRES: 'expiresAt' },
  messages: { 'WAITING MAIL': 'kind', TO: 'to', SINCE: 'createdAt', ATTEMPTS: 'attempts' },
} as const satisfies { readonly [Name in keyof AccountData]?: Columns };

export const accountText = (account: AccountData): string => {
  const { user, recoveryCodes } = account;
  const fields = Object(withTimes('', { ...withState(user), recoveryCodes: recoveryCodes.left }));
  const lists = { ...account, factors: account.factors.filter(isConfirmed) };
  return [
    alignColumns([
      ['FIELD', 'VALUE'],
      ...Object.entries(USER_DETAILS).map(([title, name]) => [title, cellOf(fields[name])]),
    ]),
    ...(Object.keys(LIST_COLUMNS) as (keyof typeof LIST_COLUMNS)[]).flatMap((name) => {
      if (lists[name].length > 0) return [table(lists[name], LIST_COLUMNS[name])];
      return name === 'sessions' ? ['No sessions.\n'] : [];
    }),
  ].join('\n');
};

const MAX_LIMIT = 1_000;

const limitIn = (text = '50'): number => {
  const limit = wholeNumber(1, MAX_LIMIT).parse(text);
  if (limit === undefined) throw invalidArguments(`--limit needs a number from 1 to ${MAX_LIMIT}.`);
  return limit;
};

export const listActions = (runWithAccounts: WithAccounts): Readonly<Record<string, Action>> => ({
  list: action({
    options: { json: true, newest: true, contains: 'TEXT', limit: 'N', after: 'ID' },
    does: 'users, the oldest or the newest first, with a part of the username or address (of one or two characters: its beginning): 50, from the one after ID on',
    run: ({ options: { newest, contains = null, after = null, ...options }, env }) => {
      const limit = limitIn(options.limit);
      if (after !== null && !isId(after)) throw invalidArguments('--after needs the id of a user.');
      return runWithAccounts(env, async (accounts) => {
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
      runWithAccounts(env, async (accounts) => {
        const count = await countUsers(accounts);
        return { json: { count }, text: `${count}\n` };
      }),
  }),
  invitations: action({
    options: { json: true },
    does: 'the invitations that were neither used nor have expired',
    run: ({ env }) =>
      runWithAccounts(env, async (accounts) => {
        const open = await listInvitations(accounts.records, accounts.clock.now(), MAX_INVITATIONS);
        const invitations = open.map(({ tokenHash: _, ...invitation }) => invitation);
        const text = open.length === 0 ? 'No invitations.\n' : table(invitations, INVITATION);
        return { json: { invitations }, text };
      }),
  }),
});

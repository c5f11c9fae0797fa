import { userInfo } from 'node:os';
import { accountData, eventsData, userData } from '../../../application/accounts/account-data.ts';
import { NO_ORIGIN, withoutName } from '../../../domain/event.ts';
import { accountKind, isId, type User } from '../../../domain/user.ts';
import { CommandError } from '../../command-error.ts';
import { type Answer, answer } from './answer.ts';
import type { UserOptions } from './arguments.ts';
import { CHANGES, type Change, nameOf } from './change.ts';
import type { Accounts } from './open-accounts.ts';
import { accountText, eventsTable, usersTable } from './tables.ts';

/** Asks a yes-or-no question; `null` without a terminal. */
export type Ask = ((question: string) => Promise<boolean>) | null;

/** Runs one command. @throws CommandError, AppError */
export const act = async (accounts: Accounts, options: UserOptions, ask: Ask): Promise<Answer> => {
  const user = await findUser(accounts, options.account);
  const { command } = options;
  switch (command) {
    case 'find':
      return find(user);
    case 'show':
      return show(accounts, user);
    case 'events':
      return events(accounts, user, options);
    case 'export':
      return exported(accounts, user);
    default:
      return change(accounts, user, CHANGES[command], options, ask);
  }
};

/** Usernames cannot have the form of an id any more; older ones may. */
const BY_EMAIL = 'Give the email address of the one that you mean.';

const findUser = async ({ users }: Accounts, account: string): Promise<User> => {
  const id = account.toUpperCase();
  const byId = isId(id) ? await users.findById(id) : null;
  const byName = await (accountKind(account) === 'email' ? users.findByEmail(account) : users.findByUsername(account));
  if (byId !== null && byName !== null && byId.id !== byName.id)
    throw new CommandError(
      'ambiguous',
      `This is the id of ${nameOf(byId)}, and the name of ${nameOf(byName)}. ${BY_EMAIL}`,
      2,
    );
  const user = byId ?? byName;
  if (user === null) throw new CommandError('not-found', 'There is no user with this username, email address or id.');
  return user;
};

const change = async (
  accounts: Accounts,
  user: User,
  { intent, isFinal, assertPossible, make }: Change,
  { command, attributes, dryRun, yes, as }: UserOptions,
  ask: Ask,
): Promise<Answer> => {
  assertPossible?.(user);
  const intended = intent(nameOf(user), await accountData(accounts, user, accounts.clock.now()), attributes);
  const about = { command, userId: user.id, dryRun };
  if (dryRun) return answer({ ...about, changed: false }, `Not done, because of --dry-run: ${intended}.\n`);
  if (isFinal && !yes) await assertConfirmed(`${intended}?`, ask);
  const { report, text } = await make(accounts, user, { ...NO_ORIGIN, actor: as ?? systemUser() }, attributes);
  return answer({ ...about, ...report }, text);
};

/** A container may run as a user without a name. */
const systemUser = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
};

const assertConfirmed = async (question: string, ask: Ask): Promise<void> => {
  if (ask === null)
    throw new CommandError('not-confirmed', 'This cannot be undone: without a terminal to ask on, it needs --yes.', 2);
  if (!(await ask(question))) throw new CommandError('not-confirmed', 'Nothing was changed.', 1);
};

/** The commands that only read. */
const find = (found: User): Answer => {
  const user = userData(found);
  return answer({ user }, usersTable([user]));
};

const show = async (accounts: Accounts, found: User): Promise<Answer> => {
  const data = await accountData(accounts, found, accounts.clock.now());
  return answer(data, accountText(data));
};

const exported = async (accounts: Accounts, found: User): Promise<Answer> => {
  const data = await accountData(accounts, found, accounts.clock.now());
  // It is handed over to the user.
  const events = (await eventsData(accounts.events, found.id)).map(withoutName);
  return answer({ ...data, events }, '');
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

import { userInfo } from 'node:os';
import { type AccountData, accountData } from '../../../application/accounts/account-data.ts';
import type { EndedWays } from '../../../application/accounts/end-ways.ts';
import {
  deleteAccountAsOperator,
  disableAccount,
  enableAccount,
  endSessionsAsOperator,
  mailResetLink,
  makeResetLink,
  removeFactorsAsOperator,
  setAttributes,
  unlinkIdentityAsOperator,
  unlockAccount,
} from '../../../application/accounts/operate-accounts.ts';
import { resendVerification, setEmail } from '../../../application/accounts/operate-addresses.ts';
import { type Attributes, readAttributes } from '../../../domain/attributes.ts';
import { NO_ORIGIN, type Origin } from '../../../domain/event.ts';
import { isConfirmed } from '../../../domain/second-factor.ts';
import { canonicalEmail, EMAIL_MAX_LENGTH, EMAIL_PATTERN, type User } from '../../../domain/user.ts';
import { CommandError, invalidArguments } from '../../command-error.ts';
import { printable } from '../../printable.ts';
import type { Answer } from '../command.ts';
import type { Terminal } from '../terminal.ts';
import type { Accounts } from './open-accounts.ts';

/** A command that changes an account. */
export type Change = {
  readonly does: string;
  /** Cannot be undone, so that it has to be confirmed. */
  readonly isFinal?: boolean;
  /** What the help calls what comes after USER, and its value. */
  readonly args?: readonly string[];
  /** `reason` says to the user why. */
  readonly options?: Readonly<{ reason?: 'TEXT'; proven?: true; final?: true; 'hand-over'?: true }>;
  readonly read?: (text: string) => Pick<Given, 'attributes'> | Pick<Given, 'text'>;
  /** @throws CommandError */
  readonly assertPossible?: (user: User, accounts: Accounts) => void;
  /** What the command is about to do, as shown before the user confirms. */
  readonly intent: (name: string, data: AccountData, given: Omit<Given, 'origin'>) => string;
  readonly make: (
    accounts: Accounts,
    user: User,
    given: Given,
  ) => Promise<{ readonly report: object; readonly text: string }>;
};

/** What a change is made with. */
export type Given = {
  readonly origin: Origin;
  /** What comes after USER. */
  readonly text: string;
  readonly attributes: Attributes;
  readonly note: string | null;
  readonly isProven: boolean;
  readonly isReturned: boolean;
  readonly handsOver: boolean;
};

type Asked = {
  readonly command: string;
  readonly as: string | undefined;
  readonly dryRun: boolean;
  readonly ask: Terminal['ask'];
};

/** Asks before what cannot be undone. With `dryRun`, nothing is changed. @throws CommandError */
export const makeChange = async (
  accounts: Accounts,
  user: User,
  change: Change,
  given: Omit<Given, 'origin'>,
  { command, as, dryRun, ask }: Asked,
): Promise<Answer> => {
  change.assertPossible?.(user, accounts);
  const intended = change.intent(nameOf(user), await accountData(accounts, user, accounts.clock.now()), given);
  const about = { command, userId: user.id, dryRun };
  if (dryRun) return notDone(about, intended);
  if (change.isFinal) await assertAgreed(`${intended}?`, ask);
  const { report, text } = await change.make(accounts, user, { ...given, origin: operatorNamed(as) });
  return { json: { ...about, ...report }, text };
};

/** The options of all commands that change something. Those that do not ask take --yes, too: a script need not know which ones do. */
export const CHANGING = { json: true, 'dry-run': true, yes: true, as: 'NAME' } as const;

export const notDone = (about: object, intended: string): Answer => ({
  json: { ...about, dryRun: true, changed: false },
  text: `Not done, because of --dry-run: ${intended}.\n`,
});

/** @throws CommandError unless somebody says yes */
export const assertAgreed = async (question: string, ask: Terminal['ask']): Promise<void> => {
  if (ask === null)
    throw new CommandError('not-confirmed', 'This cannot be undone: without a terminal to ask on, it needs --yes.', 2);
  if (!(await ask(question))) throw new CommandError('not-confirmed', 'Nothing was changed.', 1);
};

/** Without a name, the system's user. */
export const operatorNamed = (name: string | undefined): Origin => ({ ...NO_ORIGIN, actor: name ?? systemUser() });

/** A container may run as a user without a name. */
const systemUser = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
};

export const nameOf = ({ username, email, id }: User): string => printable(`${username} <${email}> (${id})`);

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const sessions = (count: number): string => counted(count, 'session');

const factors = ({ apps, recoveryCodes, passkeys }: Omit<EndedWays, 'sessions'>): string =>
  `${counted(apps, 'authenticator app')}, ${counted(recoveryCodes, 'recovery code')} and ${counted(passkeys, 'passkey')}`;

const textOf = (attributes: Attributes): string => printable(JSON.stringify(attributes));

export const attributesIn = (text: string): Attributes => {
  try {
    return readAttributes(text);
  } catch (error) {
    throw invalidArguments(error instanceof Error ? error.message : 'The attributes cannot be read.');
  }
};

export const emailIn = (given: string): string => {
  const email = canonicalEmail(given);
  if (email.length > EMAIL_MAX_LENGTH || !EMAIL_PATTERN.test(email))
    throw invalidArguments('EMAIL has to be an email address, such as ada@example.org.');
  return email;
};

/** Without mail the service does not have the page. */
const NO_PAGE =
  'There is no page at this address without MAIL_URL. Set ACCOUNT_PAGES_URL, or send { token, newPassword } to POST /auth/password-reset/confirm.\n';

export const END_SESSIONS: Change = {
  does: 'ends all sessions',
  isFinal: true,
  options: { reason: 'TEXT' },
  intent: (name, data) => `End ${sessions(data.sessions.length)} of ${name}`,
  async make(accounts, user, { origin, note }) {
    const endedSessions = await endSessionsAsOperator(accounts)(user.id, origin, note);
    const report = { changed: endedSessions > 0, endedSessions };
    return { report, text: `${sessions(endedSessions)} of ${nameOf(user)} ended.\n` };
  },
};

export const CHANGES: Readonly<Record<string, Change>> = {
  disable: {
    does: 'refuses log-ins and refreshes, and ends all sessions',
    isFinal: true,
    options: { reason: 'TEXT' },
    intent: (name, data) => `Disable ${name} and end ${sessions(data.sessions.length)}`,
    async make(accounts, user, { origin, note }) {
      const report = await disableAccount(accounts)(user.id, origin, note);
      const state = report.changed ? 'disabled' : 'disabled already';
      return { report, text: `${nameOf(user)} is ${state}; ${sessions(report.endedSessions)} ended.\n` };
    },
  },
  enable: {
    does: 'allows log-ins again',
    intent: (name) => `Enable ${name}`,
    async make(accounts, user, { origin }) {
      const changed = await enableAccount(accounts)(user.id, origin);
      return { report: { changed }, text: `${nameOf(user)} is ${changed ? 'enabled' : 'enabled already'}.\n` };
    },
  },
  'remove-factors': {
    does: 'removes authenticator apps, recovery codes and passkeys: the password alone logs in',
    isFinal: true,
    intent: (name, { factors: apps, recoveryCodes, passkeys }) => {
      const held = {
        apps: apps.filter(isConfirmed).length,
        recoveryCodes: recoveryCodes.left,
        passkeys: passkeys.length,
      };
      return `Remove ${factors(held)} of ${name}, so that the password alone logs in`;
    },
    async make(accounts, user, { origin }) {
      const removed = await removeFactorsAsOperator(accounts)(user.id, origin);
      const changed = Object.values(removed).some((count) => count > 0);
      return { report: { changed, removed }, text: `${factors(removed)} of ${nameOf(user)} removed.\n` };
    },
  },
  'set-email': {
    does: "gives the account another address, which waits for its link unless --proven says that it is the user's;\n    with --final, the account goes back to its owner: nothing of who had it is left",
    args: ['EMAIL'],
    options: { proven: true, final: true },
    read: (text) => ({ text: emailIn(text) }),
    intent: (name, _data, { text }) => `Give ${name} the address ${printable(text)}`,
    async make(accounts, user, { origin, text: email, isProven, isReturned }) {
      const waits = !isProven && !isReturned && email !== user.email;
      if (waits && !accounts.hasMail)
        throw new CommandError(
          'no-mail',
          'The address would wait for a link in a mail. Set MAIL_URL, or give --proven.',
          1,
        );
      const changed = await setEmail(accounts)(user.id, { email, isProven, isReturned }, origin);
      const now = changed
        ? `${nameOf({ ...user, email })}: the address is changed.`
        : `${nameOf(user)} has this address already.`;
      const asked = `${printable(email)} gets a link, and counts when it is used. Until then, ${nameOf(user)} has this address.`;
      return { report: { changed, email }, text: `${waits ? asked : now}\n` };
    },
  },
  'prove-email': {
    does: "says that the address is the user's, and ends what was opened before",
    intent: (name) => `Take the address of ${name} for proven`,
    async make(accounts, user, { origin }) {
      const changed = await setEmail(accounts)(user.id, { email: null, isProven: true }, origin);
      return { report: { changed }, text: `The address of ${nameOf(user)} is proven${changed ? '' : ' already'}.\n` };
    },
  },
  'resend-verification': {
    does: 'sends the link again that proves the address',
    assertPossible: (_user, { hasMail }) => {
      if (!hasMail) throw new CommandError('no-mail', 'A link is sent by mail. Set MAIL_URL.', 1);
    },
    intent: (name) => `Send a link to ${name}`,
    async make(accounts, user, { origin }) {
      const changed = await resendVerification(accounts)(user.id, origin);
      const text = changed ? `${nameOf(user)} gets a link.\n` : `The address of ${nameOf(user)} is proven already.\n`;
      return { report: { changed }, text };
    },
  },
  unlock: {
    does: 'forgets the wrong passwords and codes, after which log-ins wait',
    assertPossible: (_user, { attempts }) => {
      if (attempts === null)
        throw new CommandError(
          'in-process',
          'Without REDIS_URL, each instance counts wrong passwords by itself, for an hour: ask its back office (ADMIN_PORT), or restart it.',
          1,
        );
    },
    intent: (name) => `Forget the wrong passwords and codes of ${name}`,
    async make(accounts, user, { origin }) {
      if (accounts.attempts !== null)
        await unlockAccount({ ...accounts, attempts: await accounts.attempts() })(user.id, origin);
      return { report: { changed: true }, text: `${nameOf(user)} need not wait.\n` };
    },
  },
  unlink: {
    does: 'removes an account at a provider, by its id in `show --json`, or by the name of the provider if there is one',
    args: ['IDENTITY'],
    read: (text) => ({ text }),
    intent: (name, _data, { text }) => `Unlink ${printable(text)} from ${name}`,
    async make(accounts, user, { origin, text }) {
      const linked = await accounts.identities.listByUser(user.id);
      const [identity, ...others] = linked.filter(({ id, provider }) => id === text || provider === text);
      if (identity === undefined || others.length > 0)
        throw new CommandError('not-found', 'IDENTITY names none, or several: `show --json` has their ids.');
      await unlinkIdentityAsOperator(accounts)(user.id, identity.id, origin);
      return {
        report: { changed: true, identity: identity.id },
        text: `${printable(identity.provider)} is unlinked from ${nameOf(user)}.\n`,
      };
    },
  },
  'set-attributes': {
    does: 'states a JSON object, such as {"roles":["admin"]}, for access tokens; {} removes it',
    args: ['JSON'],
    read: (text) => ({ attributes: attributesIn(text) }),
    intent: (name, { user }, { attributes }) =>
      `Set the attributes of ${name} to ${textOf(attributes)}, in place of ${textOf(user.attributes)}`,
    async make(accounts, user, { origin, attributes }) {
      const changed = await setAttributes(accounts)(user.id, attributes, origin);
      const now = `${nameOf(user)} has the attributes ${textOf(attributes)}, in place of ${textOf(user.attributes)}.`;
      const text = changed
        ? `${now} Access tokens have them from the next refresh on.\n`
        : `${nameOf(user)} has these attributes already.\n`;
      return { report: { changed, attributes }, text };
    },
  },
  'reset-link': {
    does: 'mails a link that sets a new password to the address of the account; with --hand-over, prints one, which proves no address',
    options: { 'hand-over': true },
    assertPossible({ disabledAt }) {
      if (disabledAt !== null)
        throw new CommandError('disabled', 'The account is disabled: a link would not work. Enable it first.', 1);
    },
    intent: (name) =>
      `Make a link that sets a new password for ${name}, and end the validity of one that was sent before`,
    async make(accounts, user, { origin, handsOver }) {
      if (!handsOver && !accounts.hasMail)
        throw new CommandError('no-mail', 'A link is sent by mail. Set MAIL_URL, or give --hand-over.', 1);
      if (!handsOver) {
        await mailResetLink(accounts)(user, origin);
        return { report: { changed: true }, text: `${nameOf(user)} gets a link.\n` };
      }
      const { token, expiresAt } = await makeResetLink(accounts)(user, origin);
      const url = `${accounts.accountPagesUrl}/password-reset#token=${token}`;
      const until = new Date(expiresAt).toISOString();
      const text = `${url}\nAnybody who opens it before ${until} can set a new password for ${nameOf(user)}, once.\n`;
      return { report: { changed: true, url, expiresAt }, text: accounts.hasPages ? text : text + NO_PAGE };
    },
  },
  delete: {
    does: 'deletes the account with everything that is stored about it',
    isFinal: true,
    intent: (name, data) =>
      `Delete ${name} with ${sessions(data.sessions.length)} and everything that is stored about them`,
    async make(accounts, user, { origin }) {
      const changed = await deleteAccountAsOperator(accounts)(user.id, origin);
      if (!changed) throw new CommandError('not-found', 'The account was deleted in the meantime.');
      return { report: { changed }, text: `${nameOf(user)} is deleted.\n` };
    },
  },
};

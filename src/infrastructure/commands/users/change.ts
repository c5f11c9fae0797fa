import {
  deleteAccountAsOperator,
  disableAccount,
  enableAccount,
  endSessionsAsOperator,
  makeResetLink,
} from '../../../application/use-cases/operate-accounts.ts';
import type { Origin } from '../../../domain/event.ts';
import type { User } from '../../../domain/user.ts';
import { printable } from '../../printable.ts';
import { Failure } from './answer.ts';
import type { Accounts } from './open-accounts.ts';

/** The result of a change: for programs, and for people. */
type Done = { readonly report: object; readonly text: string };

/** A command that changes an account. With `--dry-run`, `make` is not called. */
export type Change = {
  /** A sentence about what it will do. @param live how many sessions the user has. */
  readonly intent: (name: string, live: number) => string;
  /** Whether it cannot be undone, so that it has to be confirmed. */
  readonly isFinal: boolean;
  /** @throws Failure */
  readonly assertPossible?: (user: User) => void;
  readonly make: (accounts: Accounts, user: User, origin: Origin) => Promise<Done>;
};

export const nameOf = ({ username, email, id }: User): string => printable(`${username} <${email}> (${id})`);

const sessions = (count: number): string => (count === 1 ? '1 session' : `${count} sessions`);

const disable: Change = {
  intent: (name, live) => `Disable ${name} and end ${sessions(live)}`,
  isFinal: true,
  async make(accounts, user, origin) {
    const { changed, endedSessions } = await disableAccount(accounts)(user.id, origin);
    const text = `${nameOf(user)} is ${changed ? 'disabled' : 'disabled already'}; ${sessions(endedSessions)} ended.\n`;
    return { report: { changed, endedSessions }, text };
  },
};

const enable: Change = {
  intent: (name) => `Enable ${name}`,
  isFinal: false,
  async make(accounts, user, origin) {
    const changed = await enableAccount(accounts)(user.id, origin);
    return { report: { changed }, text: `${nameOf(user)} is ${changed ? 'enabled' : 'enabled already'}.\n` };
  },
};

const endSessions: Change = {
  intent: (name, live) => `End ${sessions(live)} of ${name}`,
  isFinal: true,
  async make(accounts, user, origin) {
    const endedSessions = await endSessionsAsOperator(accounts)(user.id, origin);
    const report = { changed: endedSessions > 0, endedSessions };
    return { report, text: `${sessions(endedSessions)} of ${nameOf(user)} ended.\n` };
  },
};

/** Without mail the service does not have the page. */
const NO_PAGE =
  'There is no page at this address without MAIL_URL. Set ACCOUNT_PAGES_URL, or send { token, newPassword } to POST /auth/password-reset/confirm.\n';

const resetLink: Change = {
  intent: (name) =>
    `Make a link that sets a new password for ${name}, and end the validity of one that was sent before`,
  isFinal: false,
  assertPossible({ disabledAt }) {
    if (disabledAt !== null)
      throw new Failure(1, 'disabled', 'The account is disabled: a link would not work. Enable it first.');
  },
  async make(accounts, user, origin) {
    const { token, expiresAt } = await makeResetLink(accounts)(user, origin);
    const url = `${accounts.accountPagesUrl}/password-reset#token=${token}`;
    const until = new Date(expiresAt).toISOString();
    const text = `${url}\nAnybody who opens it before ${until} can set a new password for ${nameOf(user)}, once.\n${accounts.hasPages ? '' : NO_PAGE}`;
    return { report: { changed: true, url, expiresAt }, text };
  },
};

const remove: Change = {
  intent: (name, live) => `Delete ${name} with ${sessions(live)} and everything that is stored about them`,
  isFinal: true,
  async make(accounts, user, origin) {
    const changed = await deleteAccountAsOperator(accounts)(user.id, origin);
    if (!changed) throw new Failure(3, 'not-found', 'The account was deleted in the meantime.');
    return { report: { changed }, text: `${nameOf(user)} is deleted.\n` };
  },
};

export const CHANGES = {
  disable,
  enable,
  'end-sessions': endSessions,
  'reset-link': resetLink,
  delete: remove,
} as const;

import type { AccountData } from '../../../application/accounts/account-data.ts';
import {
  deleteAccountAsOperator,
  disableAccount,
  enableAccount,
  endSessionsAsOperator,
  makeResetLink,
  removeFactorsAsOperator,
  setAttributes,
} from '../../../application/accounts/operate-accounts.ts';
import type { RemovedFactors } from '../../../application/accounts/remove-added.ts';
import type { Attributes } from '../../../domain/attributes.ts';
import type { Origin } from '../../../domain/event.ts';
import { isConfirmed } from '../../../domain/second-factor.ts';
import type { User } from '../../../domain/user.ts';
import { CommandError } from '../../command-error.ts';
import { printable } from '../../printable.ts';
import type { Accounts } from './open-accounts.ts';

/** The result of a change: for programs, and for people. */
type Done = { readonly report: object; readonly text: string };

/** A command that changes an account. With `--dry-run`, `make` is not called. */
export type Change = {
  /** A sentence about what it will do to an account that has this data. */
  readonly intent: (name: string, data: AccountData, attributes: Attributes) => string;
  /** Whether it cannot be undone, so that it has to be confirmed. */
  readonly isFinal: boolean;
  /** @throws CommandError */
  readonly assertPossible?: (user: User) => void;
  readonly make: (accounts: Accounts, user: User, origin: Origin, attributes: Attributes) => Promise<Done>;
};

export const nameOf = ({ username, email, id }: User): string => printable(`${username} <${email}> (${id})`);

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const sessions = (count: number): string => counted(count, 'session');

const factors = ({ apps, recoveryCodes, passkeys }: RemovedFactors): string =>
  `${counted(apps, 'authenticator app')}, ${counted(recoveryCodes, 'recovery code')} and ${counted(passkeys, 'passkey')}`;

const disable: Change = {
  intent: (name, data) => `Disable ${name} and end ${sessions(data.sessions.length)}`,
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
  intent: (name, data) => `End ${sessions(data.sessions.length)} of ${name}`,
  isFinal: true,
  async make(accounts, user, origin) {
    const endedSessions = await endSessionsAsOperator(accounts)(user.id, origin);
    const report = { changed: endedSessions > 0, endedSessions };
    return { report, text: `${sessions(endedSessions)} of ${nameOf(user)} ended.\n` };
  },
};

const removeFactors: Change = {
  intent: (name, { factors: apps, recoveryCodes, passkeys }) => {
    const held = {
      apps: apps.filter(isConfirmed).length,
      recoveryCodes: recoveryCodes.left,
      passkeys: passkeys.length,
    };
    return `Remove ${factors(held)} of ${name}, so that the password alone logs in`;
  },
  isFinal: true,
  async make(accounts, user, origin) {
    const removed = await removeFactorsAsOperator(accounts)(user.id, origin);
    const changed = Object.values(removed).some((count) => count > 0);
    return { report: { changed, removed }, text: `${factors(removed)} of ${nameOf(user)} removed.\n` };
  },
};

const attributesText = (attributes: Attributes): string => printable(JSON.stringify(attributes));

const changeAttributes: Change = {
  intent: (name, { user }, attributes) =>
    `Set the attributes of ${name} to ${attributesText(attributes)}, in place of ${attributesText(user.attributes)}`,
  isFinal: false,
  async make(accounts, user, origin, attributes) {
    const changed = await setAttributes(accounts)(user.id, attributes, origin);
    const former = attributesText(user.attributes);
    const text = changed
      ? `${nameOf(user)} has the attributes ${attributesText(attributes)}, in place of ${former}. Access tokens have them from the next refresh on.\n`
      : `${nameOf(user)} has these attributes already.\n`;
    return { report: { changed, attributes }, text };
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
      throw new CommandError('disabled', 'The account is disabled: a link would not work. Enable it first.', 1);
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
  intent: (name, data) =>
    `Delete ${name} with ${sessions(data.sessions.length)} and everything that is stored about them`,
  isFinal: true,
  async make(accounts, user, origin) {
    const changed = await deleteAccountAsOperator(accounts)(user.id, origin);
    if (!changed) throw new CommandError('not-found', 'The account was deleted in the meantime.');
    return { report: { changed }, text: `${nameOf(user)} is deleted.\n` };
  },
};

export const CHANGES = {
  disable,
  enable,
  'end-sessions': endSessions,
  'remove-factors': removeFactors,
  'set-attributes': changeAttributes,
  'reset-link': resetLink,
  delete: remove,
} as const;

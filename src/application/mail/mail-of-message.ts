import { type MailName, type SentMail, type VariableOf, variablesOf } from '../../domain/event-table.ts';
import { EMAIL_LINK_LIFETIME, type Link, type LinkPurpose, RESET_LIFETIME } from '../../domain/link.ts';
import { LOGIN_CODE_LIFETIME } from '../../domain/login-code.ts';
import type { Message } from '../../domain/message.ts';
import { isImported, type User } from '../../domain/user.ts';
import { type LinkVariable, type MailValue, maskedAddress } from './write-mail.ts';

/** A link to store for a mail. `tokenHash` is the hash of a code. Default: the link gets a new token, which its URL contains. */
export type LinkToStore = Pick<Link, 'purpose' | 'email'> &
  Partial<Pick<Link, 'since' | 'keeps' | 'tokenHash' | 'expiresAt'>> & {
    readonly variable: LinkVariable;
    /** Milliseconds, if `expiresAt` is not set. Default: `EMAIL_LINK_LIFETIME`. */
    readonly lifetime?: number;
  };

type ComposedMail = {
  readonly template: MailName;
  readonly values: Readonly<Record<string, MailValue>>;
  readonly links: readonly LinkToStore[];
};

/** A message that is a mail. A request becomes one when its user is known. */
export type SentMessage = Message & { readonly kind: SentMail };

export type RemainingWays = {
  readonly passkeys: readonly string[];
  readonly apps: string;
  readonly signIns: readonly string[];
};

type MailData = {
  readonly links: readonly Link[];
  readonly remaining: () => Promise<RemainingWays>;
  readonly newCode: () => { readonly code: string; readonly tokenHash: string };
  readonly deviceName: (userAgent: string) => string;
  /** The code of a log-in; `null` if it has expired, and for mails without such a code. */
  readonly code: string | null;
};

type Compose = (message: SentMessage, user: User, data: MailData) => ComposedMail | null | Promise<ComposedMail | null>;

/** @returns `null` when no mail has to be sent, for instance since the message is out of date. */
export const mailOfMessage = async (message: SentMessage, user: User, data: MailData): Promise<ComposedMail | null> => {
  const { kind } = message;
  const compose = COMPOSERS[kind] ?? (variablesOf(kind).includes('undoLink') ? undoableNotice : plainNotice);
  return compose(message, user, data);
};

/** A notice goes to the address that the account had when the event happened, since an attacker may have changed it. */
const plainNotice: Compose = (message, _user, data) => ({
  template: message.kind,
  values: whenAndWhere(message, data),
  links: [],
});

const mail = <Name extends MailName>(
  template: Name,
  values: Readonly<Record<Exclude<VariableOf<Name>, LinkVariable>, MailValue>>,
  links: readonly LinkToStore[] = [],
): ComposedMail => ({ template, values, links });

const whenAndWhere = ({ createdAt: time, origin: { userAgent, address } }: Message, { deviceName }: MailData) => ({
  time: { time },
  device: userAgent === null ? [] : [deviceName(userAgent)],
  network: address ?? '',
});

const linkTo = (email: string, variable: LinkVariable, purpose: LinkPurpose, lifetime = EMAIL_LINK_LIFETIME) => ({
  ...{ variable, purpose, email, lifetime },
});

/** A notice with a link that undoes the change. It has no link if links of earlier mails undo the change as well, or its own link is gone. */
const undoableNotice: Compose = (message, _user, data) => {
  const { to: email, createdAt } = message;
  const undo = data.links.find(
    (link) => link.purpose === 'factors-undo' && link.since === createdAt && link.email === email,
  );
  if (undo === undefined) return mail('factors-changed-again', whenAndWhere(message, data));
  const { since, keeps, expiresAt } = undo;
  const link = { variable: 'undoLink', purpose: 'factors-undo', email, since, keeps, expiresAt } as const;
  const values = { ...whenAndWhere(message, data), undoUntil: { time: expiresAt } };
  return { template: message.kind, values, links: [link] };
};

/** A mail with a code to log in. A disabled account gets none, since it refuses every log-in. */
const loginCode =
  (template: 'login-code' | 'new-device-code'): Compose =>
  (message, { disabledAt }, data) => {
    if (data.code === null || disabledAt !== null) return null;
    const validFor = { duration: LOGIN_CODE_LIFETIME };
    return mail(template, { ...whenAndWhere(message, data), code: data.code, validFor });
  };

/** The mails that need more than `plainNotice` or `undoableNotice`. */
const COMPOSERS: Readonly<Partial<Record<SentMail, Compose>>> = {
  'password-reset': ({ to }, { email, disabledAt }) => {
    if (email !== to || disabledAt !== null) return null;
    const link = linkTo(to, 'link', 'password-reset', RESET_LIFETIME);
    return mail('password-reset', { validFor: { duration: RESET_LIFETIME } }, [link]);
  },
  /** The mail to an imported account has no link `not-me`, which such an account refuses. */
  'email-verification': ({ to }, user) => {
    const { username, email, emailVerifiedAt, disabledAt } = user;
    if (email !== to || emailVerifiedAt !== null || disabledAt !== null) return null;
    const values = { username, validFor: { duration: EMAIL_LINK_LIFETIME } };
    if (isImported(user)) return mail('email-change', values, [linkTo(to, 'link', 'email-verification')]);
    const links = [linkTo(to, 'confirmLink', 'email-verification'), linkTo(to, 'disownLink', 'not-me')];
    return mail('email-verification', values, links);
  },
  'login-code': loginCode('login-code'),
  'new-device-code': loginCode('new-device-code'),
  'confirmation-code': (message, { email, disabledAt }, data) => {
    if (email !== message.to || disabledAt !== null) return null;
    const { code, tokenHash } = data.newCode();
    const link = { ...linkTo(email, 'link', 'confirmation-code', LOGIN_CODE_LIFETIME), tokenHash };
    const values = { ...whenAndWhere(message, data), code, validFor: { duration: LOGIN_CODE_LIFETIME } };
    return mail('confirmation-code', values, [link]);
  },
  'address-taken': ({ to }, { email }) => (email === to ? mail('address-taken', {}) : null),
  'email-change': ({ to }, { username, email, disabledAt }) => {
    if (email === to || disabledAt !== null) return null;
    const link = linkTo(to, 'link', 'email-change');
    return mail('email-change', { username, validFor: { duration: EMAIL_LINK_LIFETIME } }, [link]);
  },
  'email-changed': async ({ to, email }, user, { links, remaining }) => {
    const undo = links.find(({ purpose }) => purpose === 'email-change-undo');
    if (user.email === to && undo?.email !== to) return null;
    const changed = { username: user.username, newEmail: maskedAddress(email ?? user.email) };
    // After several changes, only the first address gets a link: otherwise an attacker could replace the owner's link by a second change.
    if (undo?.email !== to) return mail('email-changed-again', changed);
    const { since, keeps, createdAt, expiresAt } = undo;
    const link = { variable: 'undoLink', purpose: 'email-change-undo', email: to, since, keeps, expiresAt } as const;
    const values = { ...changed, ...(await remaining()), undoFor: { duration: expiresAt - createdAt } };
    return mail('email-changed', values, [link]);
  },
  'email-change-final': (_message, { username }, { links }) => {
    const undo = links.find(({ purpose }) => purpose === 'email-change-undo');
    return undo === undefined ? null : mail('email-change-final', { username, undoUntil: { time: undo.expiresAt } });
  },
  'email-change-undone': async (_message, { username }, data) =>
    mail('email-change-undone', { username, ...(await data.remaining()) }),
  'factors-undone': async (_message, { username }, data) =>
    mail('factors-undone', { username, ...(await data.remaining()) }),
  'password-was-reset': async (message, _user, data) =>
    mail('password-was-reset', { ...whenAndWhere(message, data), ...(await data.remaining()) }),
};

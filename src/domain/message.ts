import type { Origin } from './event.ts';
import { limitsOf, MAIL_INTERVAL, SENT_MAILS, type SentMail } from './event-table.ts';
import { RESET_LIFETIME } from './link.ts';
import { LOGIN_CODE_LIFETIME, LOGIN_CODE_SPACING } from './login-code.ts';
import { PENDING_LOGIN_LIFETIME } from './second-factor.ts';

/** Requests for a mail from clients that are not authenticated. The account is looked up when the mail is sent. */
const REQUEST_KINDS = [
  'password-reset-request',
  'email-verification-request',
  'login-code-request',
  'new-device-code-request',
] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

export const MESSAGE_KINDS = [...REQUEST_KINDS, ...SENT_MAILS];
export type MessageKind = RequestKind | SentMail;

/** A message that waits to be sent. The tokens of its links are made when it is sent. */
export type Message = {
  readonly id: string;
  readonly kind: MessageKind;
  /** `null` for an invitation, and while it is not known whether the address has an account. */
  readonly userId: string | null;
  /** The address; for a code to log in, the name of the account that was typed (`canonicalAccount`), which may be a username. */
  readonly to: string;
  /** The new address that an `email-changed` names; `null` for other kinds. */
  readonly email: string | null;
  /** The language of the mail; `null`: that of the user, if there is one, when it is sent. */
  readonly locale: string | null;
  /** For notices of changes: whether `to` was the verified address of the account then. For a `new-device-code-request`: whether the password was right. */
  readonly wasVerified: boolean;
  readonly origin: Origin;
  readonly createdAt: number;
  readonly attempts: number;
};

/** The part of a message that a use case states. `enqueue` adds the id, the origin and, by default, the time. */
export type MessageDraft = Pick<Message, 'kind' | 'userId' | 'to'> &
  Partial<Pick<Message, 'email' | 'locale' | 'wasVerified' | 'createdAt'>>;

type WithKind = Pick<Message, 'kind'>;

export const isRequest = <M extends WithKind>(message: M): message is M & { readonly kind: RequestKind } =>
  REQUEST_KINDS.some((each) => each === message.kind);

/** The kinds whose handling could show a stranger whether an address has an account. */
export const SECRET_KINDS: readonly MessageKind[] = [...REQUEST_KINDS, 'email-verification', 'address-taken'];

/** Whether a message is a mail with a code to log in, or a request for such a mail. */
export const hasLoginCode = ({ kind }: WithKind): boolean => LOGIN_CODE_KINDS.includes(kind);
const LOGIN_CODE_KINDS: readonly MessageKind[] = [
  'login-code',
  'login-code-request',
  'new-device-code',
  'new-device-code-request',
];

/** At most one request with the same key waits to be claimed. Each request for a code has a key of its own, since every browser needs its own code. */
export const requestKey = ({ kind, to, id }: Pick<Message, 'kind' | 'to' | 'id'>): string =>
  `${kind} ${hasLoginCode({ kind }) ? id : to}`;

/**
 * Whether a message waits for the sender's next poll, whose time is random unless too many messages wait. If a stranger could choose the time, the
 * duration of their next request would show how much work the message causes, and so whether the address has an account.
 */
export const waitsForPoll = ({ kind, attempts }: Pick<Message, 'kind' | 'attempts'>): boolean =>
  attempts > 0 || SECRET_KINDS.includes(kind);

export const newMessage = (
  { kind, userId, to, email = null, locale = null, wasVerified = false, createdAt }: MessageDraft,
  { id, at, origin }: { readonly id: string; readonly at: number; readonly origin: Origin },
): Message => ({ id, kind, userId, to, email, locale, wasVerified, origin, createdAt: createdAt ?? at, attempts: 0 });

/** When a message is due for the first time. A mail about a missing second factor waits as long as the user can still finish the log-in. */
export const dueAt = ({ kind, createdAt }: Pick<Message, 'kind' | 'createdAt'>): number =>
  kind === 'second-factor-missing' ? createdAt + PENDING_LOGIN_LIFETIME : createdAt;

const FIRST_DELAY = 10_000;
const LONGEST_DELAY = 3_600_000;

/** Milliseconds until the next attempt: 10 seconds, doubled with each attempt up to an hour, less a random part of up to half. @param random from 0 to 1. */
export const retryDelay = (attempts: number, random: number): number =>
  Math.round(Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (attempts - 1)) * (1 - random / 2));

const DAY = 86_400_000;
/** Mails that are given up early: days later, they would only alarm the user. */
const URGENT_KINDS: readonly MessageKind[] = ['password-reset-request', 'password-reset'];

/** Milliseconds in which attempts to send a message are repeated. */
const retryPeriodOf = (kind: MessageKind): number => {
  if (hasLoginCode({ kind }) || kind === 'confirmation-code') return LOGIN_CODE_LIFETIME;
  return URGENT_KINDS.includes(kind) ? DAY / 4 : 2 * DAY;
};

export const isGivenUp = ({ kind, createdAt }: Pick<Message, 'kind' | 'createdAt'>, now: number): boolean =>
  now - createdAt >= retryPeriodOf(kind);

/** Mail domains that ignore dots in the local part, each with the domain under which its addresses are counted: some have several names. */
const MAILBOX_DOMAINS = new Map([
  ['gmail.com', 'gmail.com'],
  ['googlemail.com', 'gmail.com'],
  ['proton.me', 'proton.me'],
  ['protonmail.com', 'proton.me'],
  ['pm.me', 'proton.me'],
]);

/** A text that is the same for all known spellings of one mailbox. It serves only to count mails. @param email canonical. */
export const mailboxOf = (email: string): string => {
  const at = email.lastIndexOf('@');
  const [name, domain] = [email.slice(0, at).replace(/(?<=.)\+.*$/, ''), email.slice(at + 1)];
  const host = MAILBOX_DOMAINS.get(domain);
  return host === undefined ? `${name}@${domain}` : `${name.replaceAll('.', '')}@${host}`;
};

/** A token bucket: `burst` mails at once, then one in each interval of milliseconds. `key` is its name. */
type MailLimit = { readonly key: string; readonly burst: number; readonly interval: number };

const MAILS_AT_ONCE = 5;

/** The limit of log-in codes to one address, and of links to unverified spellings of one mailbox. Each network has a lower limit, so none alone uses it up. */
const LINKS_OF_MAILBOX = { burst: 50, interval: DAY / 50 };

type LimitedMail = Pick<Message, 'to' | 'origin'> & { readonly kind: SentMail };

type Recipient = {
  /** Whether the address is, or was, the verified one of the account that the mail is about. */
  readonly isProven: boolean;
  /** Whether the mail has a code to log in, and the user has logged in or registered on the device that asked for it. */
  readonly isKnownDevice: boolean;
};

/**
 * The limits that count a mail (docs/mail-and-pages.md). Links are counted apart from notices, and those to a verified address for that address alone.
 * So a stranger who uses up the limits of a similar address cannot keep links from its owner.
 */
export const mailLimits = (mail: LimitedMail, recipient: Recipient): readonly MailLimit[] => {
  if (hasLoginCode(mail)) return codeLimits(mail, recipient);
  const isLink = limitsOf(mail.kind).interval !== undefined || mail.kind === 'email-change';
  return isLink ? linkLimits(mail, recipient.isProven) : noticeLimits(mail, recipient.isProven);
};

/**
 * A code works only in the browser that asked for it, so requests of strangers must not use up the limits of the user: each network and the known
 * devices of the user have limits of their own. The limits also bound how often the codes of an address can be guessed.
 */
const codeLimits = ({ kind, to, origin: { address } }: LimitedMail, { isProven, isKnownDevice }: Recipient) => {
  const mailbox = mailboxOf(to);
  return [
    { key: `${kind} ${to} ${address} spacing`, burst: 1, interval: LOGIN_CODE_SPACING },
    { key: `${kind} ${to} ${address}`, burst: MAILS_AT_ONCE, interval: RESET_LIFETIME },
    { key: isKnownDevice ? `${kind} ${to} known` : `${kind} ${to}`, ...LINKS_OF_MAILBOX },
    ...(isProven || mailbox === to ? [] : [{ key: `links ${mailbox}`, ...LINKS_OF_MAILBOX }]),
  ];
};

const linkLimits = ({ kind, to, origin }: LimitedMail, isProven: boolean): readonly MailLimit[] => {
  const { interval } = limitsOf(kind);
  const mailbox = mailboxOf(to);
  const addressLimits = interval === undefined ? [] : [{ key: `${kind} ${to}`, burst: MAILS_AT_ONCE, interval }];
  if (isProven || (interval !== undefined && mailbox === to)) return addressLimits;
  const networkLimit = { key: `links ${mailbox} ${origin.address}`, burst: MAILS_AT_ONCE, interval: MAIL_INTERVAL };
  return [...addressLimits, networkLimit, { key: `links ${mailbox}`, ...LINKS_OF_MAILBOX }];
};

/** The limits of notices to an unverified address. Those to a verified one have none here: use cases limit what strangers can cause (ADR 0011). */
const noticeLimits = ({ kind, to }: LimitedMail, isProven: boolean): readonly MailLimit[] => {
  if (isProven) return [];
  const mailbox = mailboxOf(to);
  const limit = { burst: limitsOf(kind).burst ?? MAILS_AT_ONCE, interval: MAIL_INTERVAL };
  // `email-changed` has the link that restores the address, so other notices must not use up its limit.
  const addressLimit = { key: `${kind === 'email-changed' ? kind : 'notices'} ${to}`, ...limit };
  return mailbox === to ? [addressLimit] : [addressLimit, { key: `notices of spellings ${mailbox}`, ...limit }];
};

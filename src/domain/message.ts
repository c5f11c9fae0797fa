import type { Origin } from './event.ts';
import { limitsOf, MAIL_INTERVAL, SENT_MAILS, type SentMail } from './happenings.ts';
import { RESET_LIFETIME } from './link.ts';
import { LOGIN_CODE_LIFETIME, LOGIN_CODE_SPACING } from './login-code.ts';
import { PENDING_LOGIN_LIFETIME } from './second-factor.ts';

/** Requests without authentication for a mail. Whether there is such an account is looked up when the mail is sent. */
const REQUEST_KINDS = [
  'password-reset-request',
  'email-verification-request',
  'login-code-request',
  'new-device-code-request',
] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

export const MESSAGE_KINDS = [...REQUEST_KINDS, ...SENT_MAILS];
export type MessageKind = RequestKind | SentMail;

/** A message that is still to be sent. It has no link: the token of a link is made when the message is sent. */
export type Message = {
  readonly id: string;
  readonly kind: MessageKind;
  /** `null` while it is not known whether the address has an account. */
  readonly userId: string | null;
  /** Of a request for a code: the account as a browser has named it, which may be a username. */
  readonly to: string;
  /** An address that the message is about, besides the one that it is sent to; `null` for most kinds. */
  readonly email: string | null;
  /** The language of the mail; `null`: that of the user when it is sent. */
  readonly locale: string | null;
  /**
   * Whether the address was the verified one of the account before the change that the message is about. Of a `new-device-code-request`: whether
   * the password was right; the message of a wrong one is stored as well, and dropped.
   */
  readonly wasVerified: boolean;
  readonly origin: Origin;
  readonly createdAt: number;
  readonly attempts: number;
};

/** A message as a use case states it. `enqueue` adds the id, the time and the origin. */
export type MessageDraft = Pick<Message, 'kind' | 'userId' | 'to'> &
  Partial<Pick<Message, 'email' | 'locale' | 'wasVerified' | 'createdAt'>>;

type OfRequest = { readonly kind: RequestKind };

export const isRequest = <Given extends Pick<Message, 'kind'>>(message: Given): message is Given & OfRequest =>
  REQUEST_KINDS.some((each) => each === message.kind);

/** The kinds from which a stranger could learn whether an address has an account. */
export const SECRET_KINDS: readonly MessageKind[] = [...REQUEST_KINDS, 'email-verification', 'address-taken'];

/** Mails with a code to log in, and requests for them. */
export const hasLoginCode = ({ kind }: Pick<Message, 'kind'>): boolean => LOGIN_CODE_KINDS.includes(kind);
const LOGIN_CODE_KINDS: readonly MessageKind[] = [
  'login-code',
  'login-code-request',
  'new-device-code',
  'new-device-code-request',
];

/** Of the requests with one key, one waits. Each browser that asks for a code waits for its own, so that nobody can keep it from coming. */
export const requestKey = ({ kind, to, id }: Pick<Message, 'kind' | 'to' | 'id'>): string =>
  `${kind} ${hasLoginCode({ kind }) ? id : to}`;

/**
 * Whether a message is sent only when the sender polls, at a random time. If a stranger could choose that time, the duration of their next
 * request would show how much work the message causes, and so whether the address has an account. The same holds for retries.
 */
export const waitsForPoll = ({ kind, attempts }: Pick<Message, 'kind' | 'attempts'>): boolean =>
  attempts > 0 || SECRET_KINDS.includes(kind);

export const newMessage = (
  { kind, userId, to, email = null, locale = null, wasVerified = false, createdAt }: MessageDraft,
  { id, at, origin }: { readonly id: string; readonly at: number; readonly origin: Origin },
): Message => ({ id, kind, userId, to, email, locale, wasVerified, origin, createdAt: createdAt ?? at, attempts: 0 });

/** When a message is sent for the first time. A log-in may still be finished. */
export const dueAt = ({ kind, createdAt }: Pick<Message, 'kind' | 'createdAt'>): number =>
  kind === 'second-factor-missing' ? createdAt + PENDING_LOGIN_LIFETIME : createdAt;

const FIRST_DELAY = 10_000;
const LONGEST_DELAY = 3_600_000;

/** 10 s, doubled with each attempt, at most an hour, less up to half at random. @param random from 0 to 1. */
export const retryDelay = (attempts: number, random: number): number =>
  Math.round(Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (attempts - 1)) * (1 - random / 2));

const DAY = 86_400_000;
const SIX_HOURS = 6 * 3_600_000;
/** The user waits for these. Days later they would only alarm. */
const URGENT: readonly MessageKind[] = ['password-reset-request', 'password-reset'];

/** How long attempts to send a message are repeated. Its links do not expire meanwhile: they are made when it is sent. */
const retryPeriodOf = (kind: MessageKind): number => {
  if (hasLoginCode({ kind })) return LOGIN_CODE_LIFETIME;
  return URGENT.includes(kind) ? SIX_HOURS : 2 * DAY;
};

export const isGivenUp = ({ kind, createdAt }: Pick<Message, 'kind' | 'createdAt'>, now: number): boolean =>
  now - createdAt >= retryPeriodOf(kind);

// How many mails an address gets (docs/mail-and-pages.md has the table).

/** Hosts that deliver to the same mailboxes under several names, with the one that is counted. They ignore dots in a local part. */
const HOSTS = new Map([
  ['gmail.com', 'gmail.com'],
  ['googlemail.com', 'gmail.com'],
  ['proton.me', 'proton.me'],
  ['protonmail.com', 'proton.me'],
  ['pm.me', 'proton.me'],
]);

/** The same text for the known spellings of one mailbox. For counting only. @param email canonical. */
export const mailboxOf = (email: string): string => {
  const at = email.lastIndexOf('@');
  const [name = '', given] = [email.slice(0, at).replace(/(?<=.)\+.*$/, ''), email.slice(at + 1)];
  const host = HOSTS.get(given);
  return host === undefined ? `${name}@${given}` : `${name.replaceAll('.', '')}@${host}`;
};

/** So many mails at once, then one in each interval. */
export type MailLimit = {
  readonly of: string;
  readonly burst: number;
  readonly interval: number;
};

const MAILS_AT_ONCE = 5;

/** All links to unverified spellings of one mailbox, and to new addresses. No network alone can use them up. */
const LINKS_OF_MAILBOX = { burst: 50, interval: DAY / 50 };

type Counted = Pick<Message, 'to' | 'origin'> & { readonly kind: SentMail };

type Recipient = {
  /** Whether the address is, or was, the verified one of the account that the mail is about. */
  readonly isProven: boolean;
  /** Whether the user has logged in on the device that has asked for it. */
  readonly isKnownDevice: boolean;
};

/**
 * The limits of a mail, all of which count it. Mails to one address never use up the limit of another one, nor notices that of links: what
 * others cause by a spelling of the owner's mailbox keeps no link from the owner.
 */
export const mailLimits = (mail: Counted, given: Recipient): readonly MailLimit[] => {
  if (hasLoginCode(mail)) return codeLimits(mail, given);
  const isLink = limitsOf(mail.kind).every !== undefined || mail.kind === 'email-change';
  return isLink ? linkLimits(mail, given.isProven) : noticeLimits(mail, given.isProven);
};

/**
 * A code is good in the browser alone that has asked for it, so those of one network must not use up what an address gets, nor those of many
 * networks what the devices of its owner get. The mails of an address bound how often its codes can be guessed, too.
 */
const codeLimits = (
  { kind, to, origin: { address } }: Counted,
  { isProven, isKnownDevice }: Recipient,
): readonly MailLimit[] => {
  const mailbox = mailboxOf(to);
  return [
    { of: `${kind} ${to} ${address} spacing`, burst: 1, interval: LOGIN_CODE_SPACING },
    { of: `${kind} ${to} ${address}`, burst: MAILS_AT_ONCE, interval: RESET_LIFETIME },
    { of: isKnownDevice ? `${kind} ${to} known` : `${kind} ${to}`, ...LINKS_OF_MAILBOX },
    ...(isProven || mailbox === to ? [] : [{ of: `links ${mailbox}`, ...LINKS_OF_MAILBOX }]),
  ];
};

const linkLimits = ({ kind, to, origin }: Counted, isProven: boolean): readonly MailLimit[] => {
  const { every: interval } = limitsOf(kind);
  const mailbox = mailboxOf(to);
  const ofAddress = interval === undefined ? [] : [{ of: `${kind} ${to}`, burst: MAILS_AT_ONCE, interval }];
  if (isProven || (interval !== undefined && mailbox === to)) return ofAddress;
  const ofNetwork = { of: `links ${mailbox} ${origin.address}`, burst: MAILS_AT_ONCE, interval: MAIL_INTERVAL };
  return [...ofAddress, ofNetwork, { of: `links ${mailbox}`, ...LINKS_OF_MAILBOX }];
};

/** Those of a verified address are limited by the events of its account (ADR 0011). */
const noticeLimits = ({ kind, to }: Counted, isProven: boolean): readonly MailLimit[] => {
  if (isProven) return [];
  const mailbox = mailboxOf(to);
  const limit = { burst: limitsOf(kind).burst ?? MAILS_AT_ONCE, interval: MAIL_INTERVAL };
  // The mail that gives an address up brings the link that takes the account back: other notices never use up its limit.
  const ofAddress = { of: `${kind === 'email-changed' ? kind : 'notices'} ${to}`, ...limit };
  return mailbox === to ? [ofAddress] : [ofAddress, { of: `notices of spellings ${mailbox}`, ...limit }];
};

import { RESET_LIFETIME } from './link.ts';
import { LOGIN_CODE_LIFETIME, LOGIN_CODE_SPACING } from './login-code.ts';
import type { Message, MessageKind } from './message.ts';

/** How many mails an address gets (docs/mail-and-pages.md has the table). */

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

const DAY = 86_400_000;
/** Milliseconds after which an address may get one mail more: five a day. */
export const MAIL_INTERVAL = DAY / 5;
const MAILS_AT_ONCE = 5;

/** All links to unverified spellings of one mailbox, and to new addresses. No network alone can use them up. */
const LINKS_OF_MAILBOX = { burst: 50, interval: DAY / 50 };

/**
 * The links that anybody may ask for, or an operator sends, with an interval of at most the lifetime of the link: when one ends that nobody has
 * used, the next may be sent.
 */
const LINK_INTERVALS: Partial<Record<MessageKind, number>> = {
  'password-reset': RESET_LIFETIME,
  'email-verification': MAIL_INTERVAL,
  'confirmation-code': LOGIN_CODE_LIFETIME,
  invitation: MAIL_INTERVAL,
};

/** Of the mails without such a link: what others cause without the password has the lowest limits, what reports a takeover the highest. */
const BURSTS: Partial<Record<MessageKind, number>> = {
  'address-taken': 3,
  'password-changed': 6,
  'password-was-reset': 6,
  'email-changed': 8,
  'email-change-final': 8,
  'passkey-added': 8,
  'passkey-removed': 8,
  'identity-linked': 8,
  'identity-unlinked': 8,
  'second-factor-added': 8,
  'second-factor-removed': 8,
  'recovery-codes-made': 8,
};

type Counted = Pick<Message, 'kind' | 'to' | 'origin'>;

type Given = {
  /** Whether the address is, or was, the verified one of the account that the mail is about. */
  readonly isProven: boolean;
  /** Whether the user has logged in on the device that has asked for it. */
  readonly isKnownDevice: boolean;
};

/**
 * The limits of a mail, all of which count it. Mails to one address never use up the limit of another one, nor notices that of links: what
 * others cause by a spelling of the owner's mailbox keeps no link from the owner.
 */
export const mailLimits = (mail: Counted, given: Given): readonly MailLimit[] => {
  if (mail.kind === 'login-code') return codeLimits(mail, given);
  const isLink = mail.kind in LINK_INTERVALS || mail.kind === 'email-change';
  return isLink ? linkLimits(mail, given.isProven) : noticeLimits(mail, given.isProven);
};

/**
 * A code is good in the browser alone that has asked for it, so those of one network must not use up what an address gets, nor those of many
 * networks what the devices of its owner get. The mails of an address bound how often its codes can be guessed, too.
 */
const codeLimits = (
  { kind, to, origin: { address } }: Counted,
  { isProven, isKnownDevice }: Given,
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
  const interval = LINK_INTERVALS[kind];
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
  const limit = { burst: BURSTS[kind] ?? MAILS_AT_ONCE, interval: MAIL_INTERVAL };
  // The mail that gives an address up brings the link that takes the account back: other notices never use up its limit.
  const ofAddress = { of: `${kind === 'email-changed' ? kind : 'notices'} ${to}`, ...limit };
  return mailbox === to ? [ofAddress] : [ofAddress, { of: `notices of spellings ${mailbox}`, ...limit }];
};

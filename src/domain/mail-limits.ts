import { limitsOf, MAIL_INTERVAL, type SentMail } from './happenings.ts';
import { RESET_LIFETIME } from './link.ts';
import { LOGIN_CODE_SPACING } from './login-code.ts';
import { hasLoginCode, type Message } from './message.ts';

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

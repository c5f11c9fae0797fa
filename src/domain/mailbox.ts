import type { MessageKind } from './message.ts';

/** Hosts under which one person has the same mailbox, by the host that stands for all of them. They ignore dots in a name. */
const HOSTS = new Map([
  ['gmail.com', 'gmail.com'],
  ['googlemail.com', 'gmail.com'],
  ['proton.me', 'proton.me'],
  ['protonmail.com', 'proton.me'],
  ['pm.me', 'proton.me'],
]);

/** One text for the spellings of an address that lead to one mailbox, as far as is known. For counting only. @param email canonical. */
export const mailboxOf = (email: string): string => {
  const at = email.lastIndexOf('@');
  const [name = '', given] = [email.slice(0, at).replace(/(?<=.)\+.*$/, ''), email.slice(at + 1)];
  const host = HOSTS.get(given);
  return host === undefined ? `${name}@${given}` : `${name.replaceAll('.', '')}@${host}`;
};

/** Milliseconds after which a mailbox may get one mail more: five a day. */
export const MAIL_INTERVAL = 86_400_000 / 5;

/** What others can cause without the password of the account, that which costs them least first; and at last what tells of a takeover. */
const BURSTS: Partial<Record<MessageKind, number>> = {
  'email-change': 2,
  'email-verification': 3,
  'address-taken': 3,
  'password-reset': 4,
  'password-changed': 6,
  'password-was-reset': 6,
  'email-changed': 8,
  'email-change-final': 8,
};

/**
 * How many mails of all kinds a mailbox may have got at once before one of this kind is dropped. Each kind has one more than those with which
 * somebody else could use the limit up.
 */
export const mailBurst = (kind: MessageKind): number => BURSTS[kind] ?? 5;

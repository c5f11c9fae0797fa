import type { MessageKind } from './message.ts';

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

/** Milliseconds after which a mailbox may get one mail more: five a day. */
export const MAIL_INTERVAL = 86_400_000 / 5;

/** The mails that others can cause without the password have the lowest limits; those that report a takeover have the highest. */
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
 * The number of mails at once (of all kinds together) from which on a mail of this kind is dropped. The limits differ, so that mails which
 * a stranger can cause do not use up the limit of the important ones.
 */
export const mailBurst = (kind: MessageKind): number => BURSTS[kind] ?? 5;

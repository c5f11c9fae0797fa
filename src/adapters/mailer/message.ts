import type { SendMailOptions } from 'nodemailer';
import type { Mail } from '../../application/ports/mailer.ts';
import { EMAIL_MAX_LENGTH, EMAIL_PATTERN } from '../../domain/user.ts';

/** Whether the text is one address, and not a list or a name with an address. */
export const isAddress = (text: string): boolean => text.length <= EMAIL_MAX_LENGTH && EMAIL_PATTERN.test(text);

/** Characters that an id may not have in a Message-ID or a file name. */
const FORBIDDEN = /[^A-Za-z0-9_-]/g;

export const safeId = ({ id }: Pick<Mail, 'id'>): string => id.replaceAll(FORBIDDEN, '_');

/**
 * The message for nodemailer, which replaces line breaks in headers by spaces. Addresses are objects, since a text would be parsed as a
 * list. The encoding is quoted-printable, since spam filters suspect base64.
 * @param from an address, or a name and an address in angle brackets
 */
export const messageOf = (mail: Mail, from: string): SendMailOptions => {
  const sender = mailboxOf(from);
  return {
    from: sender,
    to: { name: '', address: mail.to },
    messageId: `<${safeId(mail)}@${sender.address.replace(/^.*@/, '')}>`,
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    encoding: 'quoted-printable',
    // RFC 3834: automatic responders do not answer this mail.
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
};

const mailboxOf = (text: string): { readonly name: string; readonly address: string } => {
  const [, name = '', address = text] = /^(.*) <([^<>]+)>$/.exec(text) ?? [];
  return { name, address };
};

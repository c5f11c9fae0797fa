import type { SendMailOptions } from 'nodemailer';
import type { Mail } from '../../application/ports/mailer.ts';
import { EMAIL_MAX_LENGTH, EMAIL_PATTERN } from '../../domain/user.ts';

/** Whether the text is one address, and not a list or a name with an address. */
export const isAddress = (text: string): boolean => text.length <= EMAIL_MAX_LENGTH && EMAIL_PATTERN.test(text);

/** An id for a Message-ID and the name of a file. */
export const safeId = ({ id }: Pick<Mail, 'id'>): string => id.replaceAll(/[^A-Za-z0-9_-]/g, '_');

/**
 * The message for nodemailer, which replaces line breaks in headers by spaces, but parses texts as lists of addresses. The encoding is quoted-printable,
 * since spam filters suspect base64.
 * @param from an address, or a name and an address in angle brackets
 */
export const messageOf = (mail: Mail, from: string): SendMailOptions => {
  const [, name = '', address = from] = /^(.*) <([^<>]+)>$/.exec(from) ?? [];
  return {
    from: { name, address },
    to: { name: '', address: mail.to },
    messageId: `<${safeId(mail)}@${address.replace(/^.*@/, '')}>`,
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

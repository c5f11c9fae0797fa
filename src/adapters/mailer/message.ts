import type { SendMailOptions } from 'nodemailer';
import type { Mail } from '../../application/ports/mailer.ts';
import { EMAIL_MAX_LENGTH, EMAIL_PATTERN } from '../../domain/user.ts';

/** Whether the text is exactly one email address, without a name. */
export const isAddress = (text: string): boolean => text.length <= EMAIL_MAX_LENGTH && EMAIL_PATTERN.test(text);

/** The id of a mail, with characters that a Message-ID and the name of a file may have. */
export const safeId = ({ id }: Pick<Mail, 'id'>): string => id.replaceAll(/[^A-Za-z0-9_-]/g, '_');

/**
 * The message for nodemailer. Addresses are objects, since nodemailer would parse texts as lists of addresses. In headers, nodemailer replaces line breaks
 * by spaces. The encoding is quoted-printable, since spam filters suspect base64.
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
    // Asks automatic responders not to answer (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
};

import { whyNoMail } from '../../../adapters/mailer/smtp.ts';
import { note, ok, problem, QUESTION_TIMEOUT, type Seen, type SetUp } from './finding.ts';

export const mail = async ({ config }: Pick<SetUp, 'config'>): Promise<Seen> => {
  if (config.mail === null)
    return note('mail.none', 'MAIL_URL is unset: no password reset, no email verification.', 'Set it to have them.');
  const { url, requireTls } = config.mail;
  if (url === null)
    return note('mail.files', 'MAIL_URL is unset: mail is written to DATA_DIR/mail.', 'Set MAIL_URL to send it.');
  const why = await whyNoMail({ url, requireTls, timeout: QUESTION_TIMEOUT });
  const { host } = new URL(url);
  if (why === null) return ok('mail.reachable', `The mail server at ${host} can be used.`);
  return problem(
    'mail.unreachable',
    `The mail server at ${host} cannot be used: ${why}. Mail waits.`,
    'Check that it runs, that this machine may reach it, its certificate, and the user and the password of MAIL_URL.',
  );
};

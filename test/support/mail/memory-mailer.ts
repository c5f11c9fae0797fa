import { isAddress } from '../../../src/adapters/mailer/message.ts';
import type { Mail, Mailer } from '../../../src/application/ports/mailer.ts';

/** A mailer that stores mail in memory instead of sending it. */
export const memoryMailer = (): Mailer & { readonly mails: readonly Mail[] } => {
  const mails: Mail[] = [];
  return {
    mails,
    send: async (mail) => {
      if (!isAddress(mail.to)) return 'refused';
      mails.push({ ...mail });
      return 'sent';
    },
  };
};

import { deviceNames } from '../../../src/adapters/json/device-names.ts';
import { requestPasswordReset, resetPassword } from '../../../src/application/accounts/mail-links.ts';
import { sendMessages } from '../../../src/application/mail/send-messages.ts';
import type { Mail, Mailer } from '../../../src/application/ports/mailer.ts';
import type { AttemptOutcome } from '../../../src/application/report.ts';
import type { Service } from '../../../src/application/service.ts';
import { addMessages } from '../../../src/application/storage/outbox.ts';
import { NO_ORIGIN } from '../../../src/domain/event.ts';
import type { LinkPurpose } from '../../../src/domain/link.ts';
import { type MessageDraft, newMessage } from '../../../src/domain/message.ts';
import { MAIL_FILES } from '../../../src/infrastructure/template-files.ts';
import { application } from '../application.ts';
import { reportsOf } from '../reports.ts';
import { memoryMailer } from './memory-mailer.ts';

/** The token in a mail's link of a purpose. */
export const tokenIn = ({ text }: Pick<Mail, 'text'>, purpose: LinkPurpose): string => {
  const [, token] = new RegExp(`/${purpose}#token=([A-Za-z0-9_-]+)$`, 'm').exec(text) ?? [];
  if (token === undefined) throw new Error(`there is no link ${purpose} in: ${text}`);
  return token;
};

/** The application with a sender of mail that sends to memory. `given` overrides the mailer, and parts of the service. */
export const applicationWithMail = (
  given: Partial<Service> & { readonly mailer?: Mailer } = {},
  app = application(),
) => {
  const mailer = memoryMailer();
  const outcomes: AttemptOutcome[] = [];
  const deps = { ...app, mailNotices: new Set(['password'] as const), ...given };
  const send = sendMessages({
    ...deps,
    secrets: { ...app.secrets, ...given.secrets },
    mailer: given.mailer ?? mailer,
    mailContext: {
      brand: 'auth.example.org',
      defaultLocale: 'en',
      pagesUrl: 'https://app.example.org/account',
      codePage: 'https://app.example.org/code',
      templates: MAIL_FILES.builtIn,
      deviceNames: () => deviceNames(', '),
    },
    random: () => 0,
    report: reportsOf('mail', (outcome) => outcomes.push(outcome)),
  });
  return {
    ...app,
    mails: mailer.mails,
    /** The outcomes of the attempts to send, in order. */
    outcomes,
    send,
    /** Sends due messages until none is left. @returns the mails that this call has sent */
    sendAll: async (): Promise<readonly Mail[]> => {
      const before = mailer.mails.length;
      for (;;) {
        const attempts = await send(100);
        if (attempts.length === 0) return mailer.mails.slice(before);
        await Promise.all(attempts);
      }
    },
    enqueue: (draft: MessageDraft, origin = NO_ORIGIN) =>
      addMessages(app, [newMessage(draft, { id: app.ids.next(), at: app.clock.now(), origin })]),
    requestPasswordReset: requestPasswordReset(deps),
    resetPassword: resetPassword(deps),
  };
};

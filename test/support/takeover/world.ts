import { memoryRecords } from '../../../src/adapters/records/memory.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { NOTICE_GROUPS } from '../../../src/domain/event-table.ts';
import { LINK_PURPOSES, type LinkPurpose } from '../../../src/domain/link.ts';
import { ADA, application } from '../application.ts';
import { applicationWithMail } from '../mail/sender.ts';

export type Policies = {
  readonly secondFactor: 'optional' | 'required';
  readonly emailVerification: 'off' | 'optional' | 'required';
};

type SentLink = { readonly purpose: LinkPurpose; readonly token: string };

/** An application with Ada's account, and the links in all mailboxes. */
export const takeoverWorld = async (policies: Policies, records = memoryRecords()) => {
  const mailNotices = new Set(NOTICE_GROUPS);
  const app = applicationWithMail({ mailNotices }, application(storageOver(records)));
  const deps = { ...app, ...policies, mailNotices, mailLocales: ['en', 'de'], pause: async () => undefined };
  // `register` here ignores the policies, because it does not matter how the account began.
  const { user, ...session } = await app.register(ADA);
  const links: (SentLink & { readonly to: string })[] = [];
  return {
    app,
    deps,
    userId: user.id,
    session,
    stored: () => app.users.findById(user.id),
    /** Sends due mail. @returns the links in a mailbox, the oldest first */
    linksOf: async (to: string): Promise<readonly SentLink[]> => {
      for (const mail of await app.sendAll())
        for (const purpose of LINK_PURPOSES) {
          const [, token] = new RegExp(`/${purpose}#token=([A-Za-z0-9_-]+)$`, 'm').exec(mail.text) ?? [];
          if (token !== undefined) links.push({ to: mail.to, purpose, token });
        }
      return links.filter((link) => link.to === to);
    },
  };
};

export type TakeoverWorld = Awaited<ReturnType<typeof takeoverWorld>>;

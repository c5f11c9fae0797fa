import type { Delivery, Mail, Mailer } from '../../../src/application/ports/mailer.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { EMAIL_PATTERN } from '../../../src/domain/user.ts';
import type { MailStore, Received } from '../../contracts/mailer/store.ts';

type Arrived = Received & { readonly headers: ReadonlyMap<string, readonly string[]> };

/** One step of sending a mail, which a fault replaces. */
export type Steps = {
  readonly isAddress: (to: string) => boolean;
  readonly arrived: (mail: Mail) => readonly Arrived[];
  readonly onRefusal: (mail: Mail) => Delivery;
  /** The error, or `null` for none. */
  readonly onFailure: (mail: Mail) => unknown;
  readonly deliver: (arrived: Arrived, all: Arrived[]) => void | Promise<void>;
};

const oneLine = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ');

export const arrivedFrom = (mail: Mail): Arrived => ({
  id: oneLine(mail.id),
  recipients: [mail.to],
  subject: oneLine(mail.subject),
  text: mail.text,
  html: mail.html,
  headers: new Map([
    ['subject', [oneLine(mail.subject)]],
    ['message-id', [oneLine(mail.id)]],
    ['auto-submitted', ['auto-generated']],
  ]),
});

const CORRECT: Steps = {
  isAddress: (to) => EMAIL_PATTERN.test(to),
  arrived: (mail) => [arrivedFrom(mail)],
  onRefusal: () => 'refused',
  onFailure: () => new AppError('SYS_UNEXPECTED_ERROR', { reason: 'The server answered 451' }),
  deliver: (arrived, all) => void all.push(arrived),
};

/** A mailer whose server is in this process, with some of its steps replaced. */
export const mailStore = (fault: Partial<Steps> = {}) => {
  const steps = { ...CORRECT, ...fault };
  return async (): Promise<MailStore> => {
    const all: Arrived[] = [];
    const mailer: Mailer = {
      send: async (mail) => {
        if (!steps.isAddress(mail.to)) return 'refused';
        for (const arrived of steps.arrived(mail)) await steps.deliver(arrived, all);
        return 'sent';
      },
    };
    return {
      mailer,
      received: async () => all,
      refusing: async () => ({ send: async (mail) => steps.onRefusal(mail) }),
      failing: async () => ({
        send: async (mail) => {
          const error = steps.onFailure(mail);
          if (error !== null) throw error;
          return 'sent';
        },
      }),
    };
  };
};

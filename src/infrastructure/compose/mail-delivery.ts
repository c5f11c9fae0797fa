import type { Logger } from 'pino';
import type { PrometheusMetrics, WaitingMail } from '../../adapters/metrics/prometheus.ts';
import type { Mailer } from '../../application/ports/mailer.ts';
import { type SendMessagesDeps, sendMessages } from '../../application/use-cases/send-messages.ts';
import type { Config } from '../config.ts';
import { attemptLog } from '../mail/attempt-log.ts';
import type { Bell } from '../mail/bell.ts';
import { deliverMail } from '../mail/deliver-mail.ts';
import type { Ports } from './ports.ts';

export type MailDelivery = {
  /** Begins to send the messages whose time has come, as `deliver` does all the time. */
  readonly send: ReturnType<typeof sendMessages>;
  /** Sends messages until `signal` is aborted. */
  readonly deliver: (signal: AbortSignal) => Promise<void>;
  readonly waiting: () => WaitingMail;
};

type Parts = {
  readonly logger: Logger;
  readonly metrics: PrometheusMetrics | null;
  readonly bell: Bell;
};

type MailConfig = Pick<Config, 'baseUrl' | 'accountPagesUrl'>;

/** How mail is sent in the background. */
export const mailDelivery = (
  config: MailConfig,
  ports: Ports & { readonly mailer: Mailer },
  { logger, metrics, bell }: Parts,
): MailDelivery => {
  const send = sendMessages({ ...ports, ...settingsOf(config), onAttempt: observing(logger, metrics) });
  let waiting: Awaited<ReturnType<typeof ports.outbox.waiting>> = { count: 0, since: null };
  const look = async () => {
    // Without the database, the last figures stay.
    waiting = await ports.outbox.waiting().catch(() => waiting);
  };
  const abandon = () => ports.mailer.close?.();
  return {
    send,
    deliver: (signal) =>
      deliverMail(
        { send, bell, abandon, clock: ports.clock, logger, onIdle: metrics === null ? undefined : look },
        signal,
      ),
    waiting: () => ({
      count: waiting.count,
      seconds: waiting.since === null ? 0 : Math.max(0, (ports.clock.now() - waiting.since) / 1000),
    }),
  };
};

const settingsOf = (config: MailConfig): Pick<SendMessagesDeps, 'mailContext' | 'random'> => ({
  mailContext: { serviceName: new URL(config.baseUrl).host, pagesUrl: config.accountPagesUrl },
  random: Math.random,
});

const observing = (logger: Logger, metrics: PrometheusMetrics | null): NonNullable<SendMessagesDeps['onAttempt']> => {
  const log = attemptLog(logger);
  return (outcome, message, error) => {
    log(outcome, message, error);
    if (outcome !== 'dropped') metrics?.observeMail(outcome);
  };
};

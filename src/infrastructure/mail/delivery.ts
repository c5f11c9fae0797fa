import { join } from 'node:path';
import type { Logger } from 'pino';
import { random } from '../../adapters/clock/system.ts';
import { deviceNames } from '../../adapters/json/device-names.ts';
import { outageLog } from '../../adapters/log/outage-log.ts';
import { systemReason } from '../../adapters/log/redact-error.ts';
import type { MailTemplates } from '../../application/mail/kinds.ts';
import { sendMessages } from '../../application/mail/send-messages.ts';
import type { Mailer } from '../../application/ports/mailer.ts';
import type { Report, Reports } from '../../application/report.ts';
import { waitingMessages } from '../../application/storage/outbox.ts';
import type { Config } from '../config.ts';
import { countOfWaiting, type DeliveryTimes, deliver, type WakeUpSignal } from '../delivery-loop.ts';
import { keepPrivate } from '../private-data.ts';

/**
 * The mailer of the configuration; `null` without mail. It connects when it sends. Without MAIL_URL outside production, mail is written to
 * files, and its links to the log.
 * @throws Error that names DATA_DIR and the system's reason.
 */
export const openMailer = async (
  { mail, dataDir }: Pick<Config, 'mail' | 'dataDir'>,
  logger: Pick<Logger, 'info'>,
): Promise<Mailer | null> => {
  if (mail === null) return null;
  const { url, from, requireTls } = mail;
  if (url !== null) return (await import('../../adapters/mailer/smtp.ts')).smtpMailer({ url, from, requireTls });
  keepMailPrivate(dataDir);
  const { fileMailer } = await import('../../adapters/mailer/files.ts');
  const onWritten = (path: string, links: readonly string[]) =>
    logger.info({ path, links }, 'A mail was written to a file');
  return fileMailer({ directory: join(dataDir, 'mail'), from, onWritten });
};

const keepMailPrivate = (dataDir: string): void => {
  try {
    keepPrivate(dataDir, 'mail');
  } catch (error) {
    throw new Error(`The mail in DATA_DIR cannot be protected: ${systemReason(error)}`);
  }
};

export type MailDelivery = ReturnType<typeof mailDelivery>;

type Parts = {
  readonly logger: Logger;
  readonly report: Report;
  /** Whether `waiting` is read. */
  readonly isWatched: boolean;
  readonly wakeUp: WakeUpSignal;
  readonly templates: () => Promise<MailTemplates>;
};

/** How mail is sent in the background. */
export const mailDelivery = (
  config: Pick<Config, 'brand' | 'defaultLocale' | 'accountPagesUrl' | 'codePageUrl'>,
  ports: Omit<Parameters<typeof sendMessages>[0], 'mailContext' | 'random' | 'report'>,
  { logger, wakeUp, report, isWatched, templates }: Parts,
) => {
  const { brand, defaultLocale, accountPagesUrl: pagesUrl, codePageUrl: codePage } = config;
  // Mails have other languages than the names.
  const names = () => deviceNames(', ');
  const mailContext = { brand: brand.name, defaultLocale, pagesUrl, codePage, templates, deviceNames: names };
  const send = sendMessages({ ...ports, mailContext, random, report });
  const { update, waiting } = countOfWaiting(() => waitingMessages(ports.records), ports.clock);
  const abandon = () => ports.mailer.close?.();
  return {
    /** Begins to send the messages that are due, as `deliver` does until `signal` is aborted. */
    send,
    deliver: (signal: AbortSignal, times?: DeliveryTimes) => {
      const loop = { send, concurrency: 10, store: 'the outbox', wakeUp, abandon, clock: ports.clock, logger };
      return deliver({ ...loop, onIdle: isWatched ? update : undefined }, signal, times);
    },
    waiting,
  };
};

const DELIVERY = { unavailable: 'a mail could not be sent and is tried again', available: 'mail can be sent again' };

/** Logs the outcome of each attempt, without addresses. During an outage, only the first failure is a warning. */
export const logOfMail = (
  logger: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>,
): ((...given: Reports['mail']) => void) => {
  const outage = outageLog(logger, DELIVERY);
  return (outcome, { id, kind, userId, attempts }, err) => {
    const message = { message: { id, kind, userId, attempts } };
    if (outcome === 'given-up') logger.error({ ...message, err }, 'a mail could not be sent and is given up');
    else if (outcome === 'refused') logger.warn(message, 'the mail server refused a mail for good');
    else if (outcome === 'dropped') logger.debug(message, 'a mail was dropped: out of date, or one too many');
    else if (outcome === 'failed') {
      if (outage.isOut()) logger.debug({ ...message, err }, DELIVERY.unavailable);
      outage.failed(err, message);
    } else {
      outage.succeeded();
      logger.debug(message, 'a mail was sent');
    }
  };
};

import { join } from 'node:path';
import type { Logger } from 'pino';
import { random, systemClock } from '../../adapters/clock/system.ts';
import { signedHeaders } from '../../adapters/hooks/signing.ts';
import { deviceNames } from '../../adapters/json/device-names.ts';
import { outageLog } from '../../adapters/log/lines.ts';
import { systemReason } from '../../adapters/log/redact-error.ts';
import { sendMessages } from '../../application/mail/send-messages.ts';
import type { MailTemplates } from '../../application/mail/write-mail.ts';
import type { Clock } from '../../application/ports/clock-and-ids.ts';
import type { Mailer } from '../../application/ports/mailer.ts';
import type { Report, Reports } from '../../application/report.ts';
import { waitingMessages } from '../../application/storage/outbox.ts';
import type { Config } from '../config.ts';
import { countOfWaiting, type DeliveryTimes, deliver, type WakeUpSignal } from '../delivery-loop.ts';
import { loadOrCreateHookKey } from '../keys.ts';
import { keepPrivate } from '../private-data.ts';

/**
 * The mailer of the configuration; `null` without mail. It connects when it sends. Without MAIL_URL outside production, mail is written to
 * files, and its links to the log.
 * @throws Error that names DATA_DIR and the system's reason.
 */
export const openMailer = async (
  { mail, dataDir, hookPrivateKey }: Pick<Config, 'mail' | 'dataDir' | 'hookPrivateKey'>,
  logger: Pick<Logger, 'info'>,
  clock: Clock = systemClock,
): Promise<Mailer | null> => {
  if (mail === null) return null;
  const { url, from, requireTls, oauth } = mail;
  if (url?.startsWith('http')) {
    const { httpMailer } = await import('../../adapters/mailer/http.ts');
    return httpMailer({ url, from, sign: await mailSigner({ hookPrivateKey, dataDir }), clock });
  }
  if (url !== null) return (await import('../../adapters/mailer/smtp.ts')).smtpMailer({ url, from, requireTls, oauth });
  keepMailPrivate(dataDir);
  const { fileMailer } = await import('../../adapters/mailer/files.ts');
  const onWritten = (path: string, links: readonly string[]) =>
    logger.info({ path, links }, 'A mail was written to a file');
  return fileMailer({ directory: join(dataDir, 'mail'), from, onWritten });
};

/** Signs requests about mail as those of hooks, with the same key. */
export const mailSigner = async (keys: Pick<Config, 'hookPrivateKey' | 'dataDir'>) => {
  const privateKey = await loadOrCreateHookKey(keys);
  return (id: string, at: number, body: string) => signedHeaders(id, at, body, [{ privateKey }]);
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

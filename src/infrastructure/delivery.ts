import { join } from 'node:path';
import type { Logger } from 'pino';
import { random, systemClock } from '../adapters/clock/system.ts';
import { postSigned } from '../adapters/hooks/signing.ts';
import { deviceNames } from '../adapters/json/device-names.ts';
import { outageLog } from '../adapters/log/lines.ts';
import { systemReason } from '../adapters/log/redact-error.ts';
import { sendMessages } from '../application/mail/send-messages.ts';
import type { MailTemplates } from '../application/mail/write-mail.ts';
import type { Clock } from '../application/ports/clock-and-ids.ts';
import type { SenderFor } from '../application/ports/hooks.ts';
import type { Mailer } from '../application/ports/mailer.ts';
import type { Report, Reports } from '../application/report.ts';
import { waitingMessages } from '../application/storage/outbox.ts';
import type { Storage } from '../application/storage/records.ts';
import { waitingDeliveries } from '../application/storage/webhooks.ts';
import { deliverWebhooks, REQUESTS_AT_ONCE } from '../application/webhooks/deliver-webhooks.ts';
import { MAX_WEBHOOKS } from '../domain/webhook.ts';
import type { Config } from './config.ts';
import { countOfWaiting, type DeliveryTimes, deliver, type WakeUpSignal } from './delivery-loop.ts';
import { existingHookKey, loadOrCreateHookKey } from './keys.ts';
import { restrictDirectory } from './private-data.ts';

/** Sends webhooks over HTTP. The sender is loaded with the first webhook, since the modules for TLS would slow down a start. */
export const openSender =
  (config: Config, clock: Clock, stop: AbortSignal): SenderFor =>
  async (webhook) => {
    const { webhookSender } = await import('../adapters/hooks/webhook-sender.ts');
    const hookKey = () => existingHookKey(config);
    return webhookSender({ hookKey, allowedNetworks: config.webhookAllowedNetworks, clock, stop })(webhook);
  };

type DeliveryOptions = {
  readonly logger: Logger;
  readonly report: Report;
  readonly wakeUp: WakeUpSignal;
  /** Whether metrics need the count `waiting`. */
  readonly isWatched: boolean;
};

export const webhookDelivery = (
  config: Config,
  { records, transactions, clock }: Pick<Storage, 'records' | 'transactions'> & { readonly clock: Clock },
  { logger, report, isWatched, wakeUp }: DeliveryOptions,
  replacement?: SenderFor,
) => {
  const stop = new AbortController();
  const senderFor = warnOfOtherKeys(replacement ?? openSender(config, clock, stop.signal), logger);
  const deps = { records, transactions, clock, senderFor, random, report };
  const begin = deliverWebhooks(deps);
  const { update, waiting } = countOfWaiting(() => waitingDeliveries(records), clock);
  const loop = {
    ...{ send: begin, concurrency: MAX_WEBHOOKS * REQUESTS_AT_ONCE, store: 'the deliveries of webhooks', wakeUp },
    ...{ abortAttempts: () => stop.abort(), clock, logger, onIdle: isWatched ? update : undefined },
  };
  return { deliver: (signal: AbortSignal, times?: DeliveryTimes) => deliver(loop, signal, times), waiting };
};

/** Logs a warning about each webhook for which this instance cannot sign: once, and again after a rotation of the webhook's key. */
const warnOfOtherKeys = (senderFor: SenderFor, logger: Pick<Logger, 'warn'>): SenderFor => {
  const warnedKeys = new Set<string>();
  return async (webhook) => {
    const send = await senderFor(webhook);
    const { id, publicKey } = webhook;
    if (send === null && !warnedKeys.has(publicKey)) logger.warn({ webhook: { id } }, CANNOT_SIGN);
    if (send === null) warnedKeys.add(publicKey);
    return send;
  };
};

const CANNOT_SIGN =
  'this instance cannot sign for a webhook, since its HOOK_PRIVATE_KEY is not that of the command that added it: its events wait for an instance with that key';

const WEBHOOK_LINES = { unavailable: 'a webhook failed and is tried again', available: 'a webhook works again' };

/** Logs the outcome of each attempt, without URLs and bodies. Of a receiver's failures that are tried again, only the first one is a warning. */
export const logOfWebhooks = (logger: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>) => {
  const outages = new Map<string, ReturnType<typeof outageLog>>();
  return (...[outcome, { webhookId, userId, sequence, event, attempts }, status, err]: Reports['webhook']): void => {
    const line = {
      webhook: { id: webhookId, event: event?.id, type: event?.type, userId, sequence, attempts, status },
    };
    const outage = outages.get(webhookId) ?? outageLog(logger, WEBHOOK_LINES);
    outages.set(webhookId, outage);
    if (outcome === 'disabled')
      logger.error(line, 'a webhook was disabled: its receiver is gone, or too much waits for it');
    else if (outcome === 'given-up') logger.error(line, 'an event was not delivered to a webhook, and is given up');
    else if (outcome === 'delivered') {
      outage.succeeded(line);
      logger.debug(line, 'an event was delivered to a webhook');
    } else {
      if (outage.isOut()) logger.debug({ ...line, err }, WEBHOOK_LINES.unavailable);
      outage.failed(err, line);
    }
  };
};

/**
 * The configured mailer, which connects when it sends; `null` if the service sends no mail. Outside production without MAIL_URL, it writes mail to files,
 * and the links in it to the log.
 * @throws Error that names DATA_DIR and the reason
 */
export const openMailer = async (
  config: Pick<Config, 'mail' | 'dataDir' | 'hookPrivateKey'>,
  logger: Pick<Logger, 'info'>,
  clock: Clock = systemClock,
): Promise<Mailer | null> => {
  const { mail, dataDir } = config;
  if (mail === null) return null;
  const { url, from, requireTls, oauth } = mail;
  if (url?.startsWith('http')) {
    const { httpMailer } = await import('../adapters/mailer/http.ts');
    return httpMailer({ post: postSigned.bind(null, url, await loadOrCreateHookKey(config)), from, clock });
  }
  if (url !== null) return (await import('../adapters/mailer/smtp.ts')).smtpMailer({ url, from, requireTls, oauth });
  try {
    restrictDirectory(dataDir, 'mail');
  } catch (error) {
    throw new Error(`The mail in DATA_DIR cannot be protected: ${systemReason(error)}`);
  }
  const { fileMailer } = await import('../adapters/mailer/files.ts');
  const onWritten = (path: string, links: readonly string[]) =>
    logger.info({ path, links }, 'A mail was written to a file');
  return fileMailer({ directory: join(dataDir, 'mail'), from, onWritten });
};

export const mailDelivery = (
  { brand, defaultLocale, accountPagesUrl: pagesUrl, codePageUrl: codePage }: Config,
  ports: Omit<Parameters<typeof sendMessages>[0], 'mailContext' | 'random' | 'report'>,
  {
    logger,
    wakeUp,
    report,
    isWatched,
    templates,
  }: DeliveryOptions & { readonly templates: () => Promise<MailTemplates> },
) => {
  // Mails join program and system by a comma, since "on" is English.
  const names = () => deviceNames(', ');
  const mailContext = { brand: brand.name, defaultLocale, pagesUrl, codePage, templates, deviceNames: names };
  const send = sendMessages({ ...ports, mailContext, random, report });
  const { update, waiting } = countOfWaiting(() => waitingMessages(ports.records), ports.clock);
  const loop = {
    ...{ send, concurrency: 10, store: 'the outbox', wakeUp, abortAttempts: () => ports.mailer.close?.() },
    ...{ clock: ports.clock, logger, onIdle: isWatched ? update : undefined },
  };
  return {
    /** Begins to send the messages that are due now. `deliver` repeats this. */
    send,
    deliver: (signal: AbortSignal, times?: DeliveryTimes) => deliver(loop, signal, times),
    waiting,
  };
};

const MAIL_LINES = { unavailable: 'a mail could not be sent and is tried again', available: 'mail can be sent again' };

/** Logs the outcome of each attempt, without addresses. Of the failures that are tried again, only the first one of an outage is a warning. */
export const logOfMail = (logger: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>) => {
  const outage = outageLog(logger, MAIL_LINES);
  return (...[outcome, { id, kind, userId, attempts }, err]: Reports['mail']): void => {
    const message = { message: { id, kind, userId, attempts } };
    if (outcome === 'given-up') logger.error({ ...message, err }, 'a mail could not be sent and is given up');
    else if (outcome === 'refused') logger.warn(message, 'the mail server refused a mail for good');
    else if (outcome === 'dropped') logger.debug(message, 'a mail was dropped: out of date, or one too many');
    else if (outcome === 'failed') {
      if (outage.isOut()) logger.debug({ ...message, err }, MAIL_LINES.unavailable);
      outage.failed(err, message);
    } else {
      outage.succeeded();
      logger.debug(message, 'a mail was sent');
    }
  };
};

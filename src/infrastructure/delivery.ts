import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { monotonicTime, random, systemClock } from '../adapters/clock/system.ts';
import { signedHeaders } from '../adapters/hooks/signing.ts';
import { deviceNames } from '../adapters/json/device-names.ts';
import { outageLog } from '../adapters/log/lines.ts';
import { systemReason } from '../adapters/log/redact-error.ts';
import type { Waiting } from '../adapters/metrics/prometheus.ts';
import { sendMessages } from '../application/mail/send-messages.ts';
import type { MailTemplates } from '../application/mail/write-mail.ts';
import type { Clock } from '../application/ports/clock-and-ids.ts';
import type { SenderFor } from '../application/ports/hooks.ts';
import type { Mailer } from '../application/ports/mailer.ts';
import type { Report, Reports } from '../application/report.ts';
import { waitingMessages } from '../application/storage/outbox.ts';
import type { Storage } from '../application/storage/records.ts';
import { waitingDeliveries } from '../application/storage/webhooks.ts';
import { AT_ONCE, deliverWebhooks } from '../application/webhooks/deliver-webhooks.ts';
import type { AccountEvent } from '../domain/event.ts';
import { MOST_WEBHOOKS, webhookTypeOf } from '../domain/webhook.ts';
import type { Config } from './config.ts';
import { existingHookKey, loadOrCreateHookKey } from './keys.ts';
import { keepPrivate } from './private-data.ts';

type WakeUpSignal = ReturnType<typeof createWakeUpSignal>;

/** Wakes a loop when there is something to send. */
export const createWakeUpSignal = () => {
  let [isSignalled, isSignalledForAll] = [false, false];
  let resume = (): void => undefined;
  const signalled = (longest: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, longest).unref();
      resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  return {
    /** @param isForAll whether to poll for all, also what waits for a poll. */
    wake(isForAll = false): void {
      isSignalled = true;
      isSignalledForAll ||= isForAll;
      resume();
    },
    /** Waits so many milliseconds for a signal, unless there was one since the last wait. For one caller. @returns whether one was for all. */
    async wait(longest: number): Promise<boolean> {
      if (!isSignalled) await signalled(longest);
      const isForAll = isSignalledForAll;
      [isSignalled, isSignalledForAll] = [false, false];
      return isForAll;
    },
  };
};

/**
 * The longest time between two polls, in milliseconds. The time is random, and a wake-up does not change it while few requests for mail
 * wait, so that no stranger can choose when a request is answered.
 */
const POLL_INTERVAL = 5_000;
/** Milliseconds for attempts in progress when the service stops, and again for what is left to return to its store. */
const GRACE = 5_000;

export type DeliveryDeps = {
  /**
   * Begins at most so many attempts, which never reject. @param lastPolledAt epoch milliseconds
   * @throws Error when the store cannot be read
   */
  readonly send: (room: number, lastPolledAt: number) => Promise<readonly Promise<void>[]>;
  /** How many attempts run at the same time at most. */
  readonly concurrency: number;
  /** What is read, for the log. */
  readonly store: string;
  /** Signalled when something was added. */
  readonly wakeUp: WakeUpSignal;
  /** Makes attempts in progress fail. */
  readonly abandon: () => void;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  /** Called when nothing more is to be sent for now. Never rejects. */
  readonly onIdle?: (() => Promise<void>) | undefined;
};

/** Milliseconds. */
export type DeliveryTimes = { readonly pollInterval?: number; readonly grace?: number };

/** Sends what is stored until `signal` is aborted. Others do not wait for a slow one. */
export const deliver = async (
  { send, concurrency, store, wakeUp, abandon, clock, logger, onIdle }: DeliveryDeps,
  signal: AbortSignal,
  { pollInterval = POLL_INTERVAL, grace = GRACE }: DeliveryTimes = {},
): Promise<void> => {
  const inProgress = new Set<Promise<void>>();
  const polls = randomPolls(clock, pollInterval);
  const begin = async (): Promise<number> => {
    const room = concurrency - inProgress.size;
    const attempts = room === 0 ? [] : await send(room, polls.last());
    for (const attempt of attempts) {
      inProgress.add(attempt);
      attempt.finally(() => {
        inProgress.delete(attempt);
        wakeUp.wake();
      });
    }
    return attempts.length;
  };
  const beginOrWarn = unlessUnreadable(begin, store, logger);
  signal.addEventListener('abort', () => wakeUp.wake(), { once: true });
  while (!signal.aborted) {
    const begun = await beginOrWarn();
    if (begun > 0 && inProgress.size < concurrency) continue;
    if (begun === 0) await onIdle?.();
    if (await wakeUp.wait(polls.untilNext())) polls.next();
  }
  const ended = Promise.all(inProgress);
  await Promise.race([ended, pause(grace, undefined, { ref: false })]);
  if (inProgress.size === 0) return;
  abandon();
  await Promise.race([ended, pause(grace, undefined, { ref: false })]);
};

/** Milliseconds from one count of what waits to the next: a count reads a thousand rows, and each event may wake the loop. */
const COUNT_INTERVAL = 1_000;

/** What waits to be sent, for the metrics. @param read since when, in epoch milliseconds; `null` when nothing waits. */
export const countOfWaiting = (
  read: () => Promise<{ readonly count: number; readonly since: number | null }>,
  clock: Clock,
) => {
  let last: Awaited<ReturnType<typeof read>> = { count: 0, since: null };
  let nextAt = 0;
  return {
    /** Counts anew, if the last count is old. While the database fails, the last values stay. */
    update: async (): Promise<void> => {
      if (monotonicTime() < nextAt) return;
      nextAt = monotonicTime() + COUNT_INTERVAL;
      last = await read().catch(() => last);
    },
    waiting: (): Waiting => ({
      count: last.count,
      seconds: last.since === null ? 0 : Math.max(0, (clock.now() - last.since) / 1_000),
    }),
  };
};

/** The times of the polls. Wake-ups do not change them. */
const randomPolls = (clock: Clock, interval: number) => {
  let [last, next] = [clock.now(), monotonicTime()];
  const untilNext = () => Math.max(0, next - monotonicTime());
  return {
    /** When the last one was. Epoch milliseconds. */
    last(): number {
      if (untilNext() > 0) return last;
      last = clock.now();
      next = monotonicTime() + interval * (0.2 + 0.8 * random());
      return last;
    },
    /** Milliseconds until the next one. */
    untilNext,
    /** Lets the next one be now. */
    next(): void {
      next = monotonicTime();
    },
  };
};

/** Logs when the store cannot be read, and when it can again. */
const unlessUnreadable = (begin: () => Promise<number>, store: string, logger: DeliveryDeps['logger']) => {
  const outage = outageLog(logger, {
    unavailable: `${store} could not be read`,
    available: `${store} can be read again`,
  });
  return async (): Promise<number> => {
    try {
      const begun = await begin();
      outage.succeeded();
      return begun;
    } catch (error) {
      outage.failed(error);
      return 0;
    }
  };
};

type SenderConfig = Pick<Config, 'hookPrivateKey' | 'dataDir' | 'webhookAllowedNetworks'>;

/** Imported when there is a webhook: a start does not need TLS for it. */
export const openSender = (config: SenderConfig, clock: Clock, stop: AbortSignal): SenderFor => {
  const { webhookAllowedNetworks: allowedNetworks } = config;
  const hookKey = () => existingHookKey(config);
  return async (webhook) => {
    const { webhookSender } = await import('../adapters/hooks/webhook-sender.ts');
    return webhookSender({ hookKey, allowedNetworks, clock, stop })(webhook);
  };
};

export type WebhookDelivery = ReturnType<typeof webhookDelivery>;

/** @param isWatched whether `waiting` is read. */
type Reporting = { readonly logger: Logger; readonly report: Report; readonly isWatched: boolean };

/** How webhooks are told of events in the background. @param given in place of a sender over HTTP. */
export const webhookDelivery = (
  config: SenderConfig,
  { records, transactions, clock }: Pick<Storage, 'records' | 'transactions'> & { readonly clock: Clock },
  { logger, report, isWatched }: Reporting,
  given?: SenderFor,
) => {
  const stop = new AbortController();
  const wakeUp = createWakeUpSignal();
  const senderFor = warningOfOthers(given ?? openSender(config, clock, stop.signal), logger);
  const deps = { records, transactions, clock, senderFor, random, report };
  const { begin, isNeeded } = deliverWebhooks(deps);
  const { update, waiting } = countOfWaiting(() => waitingDeliveries(records), clock);
  const loop = { send: begin, concurrency: MOST_WEBHOOKS * AT_ONCE, store: 'the deliveries of webhooks' };
  const onIdle = isWatched ? update : undefined;
  return {
    deliver: (signal: AbortSignal, times?: DeliveryTimes) =>
      deliver({ ...loop, wakeUp, abandon: () => stop.abort(), clock, logger, onIdle }, signal, times),
    onEvents: (events: readonly AccountEvent[]): void => {
      if (isNeeded() && events.some((event) => webhookTypeOf(event) !== null)) wakeUp.wake();
    },
    waiting,
  };
};

/** Warns once of each webhook that this instance cannot sign for, and again after a rotation. */
const warningOfOthers = (senderFor: SenderFor, logger: Pick<Logger, 'warn'>): SenderFor => {
  const known = new Set<string>();
  return async (webhook) => {
    const send = await senderFor(webhook);
    const { id, publicKey } = webhook;
    if (send === null && !known.has(publicKey)) logger.warn({ webhook: { id } }, CANNOT_SIGN);
    if (send === null) known.add(publicKey);
    return send;
  };
};

const CANNOT_SIGN =
  'this instance cannot sign for a webhook, since its HOOK_PRIVATE_KEY is not that of the command that added it: its events wait for an instance with that key';

/** Logs the outcome of each attempt, without URLs and bodies. Of an outage of a receiver, only the first failure is a warning. */
export const logOfWebhooks = (logger: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>) => {
  const failing = new Map<string, ReturnType<typeof outageLog>>();
  return (...[outcome, { webhookId, userId, sequence, event, attempts }, status, err]: Reports['webhook']): void => {
    const line = {
      webhook: { id: webhookId, event: event?.id, type: event?.type, userId, sequence, attempts, status },
    };
    const known = failing.get(webhookId);
    const outage =
      known ??
      outageLog(logger, { unavailable: 'a webhook failed and is tried again', available: 'a webhook works again' });
    failing.set(webhookId, outage);
    if (outcome === 'disabled')
      logger.error(line, 'a webhook was disabled: its receiver is gone, or too much waits for it');
    else if (outcome === 'given-up') logger.error(line, 'an event was not delivered to a webhook, and is given up');
    else if (outcome === 'delivered') {
      outage.succeeded(line);
      logger.debug(line, 'an event was delivered to a webhook');
    } else {
      if (outage.isOut()) logger.debug({ ...line, err }, 'a webhook failed and is tried again');
      outage.failed(err, line);
    }
  };
};

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
    const { httpMailer } = await import('../adapters/mailer/http.ts');
    return httpMailer({ url, from, sign: await mailSigner({ hookPrivateKey, dataDir }), clock });
  }
  if (url !== null) return (await import('../adapters/mailer/smtp.ts')).smtpMailer({ url, from, requireTls, oauth });
  keepMailPrivate(dataDir);
  const { fileMailer } = await import('../adapters/mailer/files.ts');
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

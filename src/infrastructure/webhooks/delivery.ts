import type { Logger } from 'pino';
import { random } from '../../adapters/clock/system.ts';
import { outageLog } from '../../adapters/log/lines.ts';
import type { Clock } from '../../application/ports/clock-and-ids.ts';
import type { SenderFor } from '../../application/ports/hooks.ts';
import type { Report, Reports } from '../../application/report.ts';
import type { Storage } from '../../application/storage/records.ts';
import { waitingDeliveries } from '../../application/storage/webhooks.ts';
import { AT_ONCE, deliverWebhooks } from '../../application/webhooks/deliver-webhooks.ts';
import type { AccountEvent } from '../../domain/event.ts';
import { MOST_WEBHOOKS, webhookTypeOf } from '../../domain/webhook.ts';
import type { Config } from '../config.ts';
import { countOfWaiting, createWakeUpSignal, type DeliveryTimes, deliver } from '../delivery-loop.ts';
import { existingHookKey } from '../keys.ts';

type SenderConfig = Pick<Config, 'hookPrivateKey' | 'dataDir' | 'webhookAllowedNetworks'>;

/** Imported when there is a webhook: a start does not need TLS for it. */
export const openSender = (config: SenderConfig, clock: Clock, stop: AbortSignal): SenderFor => {
  const { webhookAllowedNetworks: allowedNetworks } = config;
  const hookKey = () => existingHookKey(config);
  return async (webhook) => {
    const { webhookSender } = await import('../../adapters/hooks/webhook-sender.ts');
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

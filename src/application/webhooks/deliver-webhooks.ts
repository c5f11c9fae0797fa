import { type Delivery, MAX_DELIVERIES, messageOf, type Webhook, webhookRetryDelay } from '../../domain/webhook.ts';
import type { Clock } from '../ports/clock-and-ids.ts';
import type { SenderFor, SendWebhook } from '../ports/hooks.ts';
import type { Report } from '../report.ts';
import type { Stores, Transactions } from '../storage/records.ts';
import * as webhooks from '../storage/webhooks.ts';

/** How many requests of this process to one webhook run at the same time. The limit is per webhook, so that a slow one does not slow down the others. */
export const REQUESTS_AT_ONCE = 10;
/** Milliseconds: longer than an attempt takes, so that no other instance claims a delivery that is being sent. */
const LEASE = 30_000;
/** Milliseconds between two checks for too many deliveries (`MAX_DELIVERIES`). */
const CHECK_INTERVAL = 60_000;

type DeliverDeps = Pick<Stores, 'records'> & {
  readonly transactions: Transactions;
  readonly clock: Clock;
  readonly senderFor: SenderFor;
  readonly random: () => number;
  readonly report?: Report;
};

/**
 * Sends deliveries, some of them maybe more than once. Webhooks for which this instance has no key are left to other instances.
 * @returns a function that begins to send the deliveries that are due. It returns a promise for each attempt, which never rejects.
 */
export const deliverWebhooks = (deps: DeliverDeps) => {
  const { records, clock } = deps;
  const running = new Map<string, number>();
  let nextCheckAt = 0;
  /** The webhooks that had too many deliveries at the last check, and have accepted none since. */
  let stuck = new Set<string>();
  const disableFull = async (enabled: readonly Webhook[], senders: ReadonlyMap<string, SendWebhook>): Promise<void> => {
    const before = stuck;
    stuck = new Set();
    for (const { id } of enabled) {
      if (!(await webhooks.hasDeliveries(records, id, MAX_DELIVERIES))) continue;
      // A receiver that works again gets time to accept its deliveries.
      if (before.has(id) || (await webhooks.hasDeliveries(records, id, 2 * MAX_DELIVERIES)))
        await disable(deps, { webhookId: id });
      else if (senders.has(id)) stuck.add(id);
    }
  };
  const sendDelivery = async (send: SendWebhook, delivery: Delivery): Promise<void> => {
    const { webhookId } = delivery;
    const count = (by: 1 | -1) => running.set(webhookId, (running.get(webhookId) ?? 0) + by);
    count(1);
    if (await attempt(deps, send, delivery)) stuck.delete(webhookId);
    count(-1);
  };
  return async (): Promise<readonly Promise<void>[]> => {
    const enabled = (await webhooks.listWebhooks(records)).filter(({ disabledAt }) => disabledAt === null);
    const senders = new Map<string, SendWebhook>();
    for (const webhook of enabled) {
      const send = await deps.senderFor(webhook);
      if (send !== null) senders.set(webhook.id, send);
    }
    const now = clock.now();
    if (now >= nextCheckAt) {
      nextCheckAt = now + CHECK_INTERVAL;
      await disableFull(enabled, senders);
    }
    const begun: Promise<void>[] = [];
    for (const [webhookId, send] of senders) {
      const limit = REQUESTS_AT_ONCE - (running.get(webhookId) ?? 0);
      if (limit === 0) continue;
      const claimed = await webhooks.claimDeliveries(records, { webhookId, now, until: now + LEASE, limit });
      begun.push(...claimed.map((delivery) => sendDelivery(send, delivery)));
    }
    return begun;
  };
};

const disable = async (deps: DeliverDeps, webhook: Pick<Delivery, 'webhookId'>, status?: number) => {
  await webhooks.changeWebhook(deps.records, webhook.webhookId, { disabledAt: deps.clock.now() });
  deps.report?.('webhook', 'disabled', webhook, status);
};

type ReceiverAnswer = { readonly status?: number; readonly retryAfter: number; readonly error?: unknown };

/** @returns whether the receiver has accepted the delivery, and the store has ended it. */
const attempt = async (deps: DeliverDeps, send: SendWebhook, delivery: Delivery): Promise<boolean> => {
  const answer: ReceiverAnswer = await send(messageOf(delivery)).catch((error: unknown) => ({ retryAfter: 0, error }));
  const { status } = answer;
  try {
    if (status !== undefined && status >= 200 && status < 300) {
      await finish(deps, delivery, 'delivered');
      return true;
    }
    if (status === 410) await disable(deps, delivery, status);
    else await tryAgainLater(deps, delivery, answer);
  } catch {
    // The store has failed. The delivery is claimed again when its lease ends.
  }
  return false;
};

const finish = async (
  { transactions, clock, report }: DeliverDeps,
  delivery: Delivery,
  outcome: 'delivered' | 'given-up',
) => {
  await transactions.run((stores) => webhooks.finishDelivery(stores.records, delivery, outcome, clock.now()));
  report?.('webhook', outcome, delivery);
};

const tryAgainLater = async (deps: DeliverDeps, delivery: Delivery, { status, error, retryAfter }: ReceiverAnswer) => {
  const { records, clock, random, report } = deps;
  const now = clock.now();
  const delay = webhookRetryDelay(delivery, { now, random: random(), retryAfter });
  report?.('webhook', 'failed', delivery, status, error);
  const lastError = `${status ?? Object(error).code ?? 'no answer'}`;
  await webhooks.postponeDelivery(records, delivery, { until: now + (delay ?? LEASE), lastError });
  if (delay === null) await finish(deps, delivery, 'given-up');
};

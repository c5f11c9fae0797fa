import { EVENT_KINDS, type EventKind, type SessionEnding, type WebhookType, webhookTypeOf } from './event.ts';

export const WEBHOOK_TYPES: ReadonlyMap<WebhookType, readonly EventKind[]> = Map.groupBy(
  EVENT_KINDS.filter((kind) => webhookTypeOf({ kind }) !== null),
  (kind) => webhookTypeOf({ kind }) as WebhookType,
);

/** The type of the request with which an operator tests a webhook. */
export const TEST_TYPE = 'webhook.test';

/** A URL of another program, to which events are sent. */
export type Webhook = {
  readonly id: string;
  readonly url: string;
  /** `null`: all types, including those of later versions. */
  readonly types: readonly WebhookType[] | null;
  /** 1 at first; each rotation adds 1. The keys are derived from it, the id, and the service's key of the hooks. */
  readonly keyNumber: number;
  /** The current public key, in the form `whpk_…`. An instance that derives another key does not send to the webhook. */
  readonly publicKey: string;
  /** Whether requests are signed with a shared secret as well. */
  readonly hasSecret: boolean;
  readonly createdAt: number;
  readonly rotatedAt: number | null;
  /** When the receiver answered that it is gone (410), or the webhook had too many deliveries (`MAX_DELIVERIES`). */
  readonly disabledAt: number | null;
};

export type Delivery = {
  readonly webhookId: string;
  readonly userId: string;
  /** Numbers the events of the user in their order. */
  readonly sequence: number;
  readonly event: {
    readonly id: string;
    readonly type: WebhookType;
    readonly at: number;
    readonly sessionId: string | null;
    readonly reason: SessionEnding | null;
  };
  readonly attempts: number;
  /** The time of the event or of the last replay. The retries end some days later. */
  readonly createdAt: number;
};

export const isSubscribed = ({ types, disabledAt }: Webhook, type: WebhookType): boolean =>
  disabledAt === null && (types === null || types.includes(type));

/** There is a limit, since each webhook costs a row for each event, and sockets. */
export const MAX_WEBHOOKS = 20;
/** A webhook with so many deliveries, including those given up, is disabled if it accepts none for a minute; with twice as many, in any case. */
export const MAX_DELIVERIES = 100_000;

const SECOND = 1_000;
const HOUR = 3_600_000;
/** Milliseconds since the event or the last replay in which deliveries are kept. */
export const DELIVERY_LIFETIME = 7 * 24 * HOUR;
/** Milliseconds after a rotation in which requests are signed with the former key as well. */
export const FORMER_KEY_LIFETIME = 24 * HOUR;

/** Milliseconds after the first attempt, the second, …: the table of Standard Webhooks. */
const DELAYS = [5 * SECOND, 300 * SECOND, HOUR / 2, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
const GIVEN_UP_AFTER = DELAYS.reduce((sum, delay) => sum + delay, 0);
const LONGEST_RETRY_AFTER = 24 * HOUR;

/** Milliseconds until the next attempt, up to a tenth more at random, and at least `retryAfter`, of which a day counts at most; `null`: it is given up. */
export const webhookRetryDelay = (
  { attempts, createdAt }: Pick<Delivery, 'attempts' | 'createdAt'>,
  { now, random, retryAfter }: { readonly now: number; readonly random: number; readonly retryAfter: number },
): number | null => {
  const delay = DELAYS[attempts - 1];
  // A delivery that has waited behind another one is old at its first attempt.
  if (delay === undefined || now - createdAt >= GIVEN_UP_AFTER) return null;
  return Math.max(Math.round(delay * (1 + random / 10)), Math.min(retryAfter, LONGEST_RETRY_AFTER));
};

/** The content of a request to a webhook: ids and no other personal data, since receivers may store it. */
export type WebhookMessage = {
  /** The same in all retries. */
  readonly id: string;
  readonly type: WebhookType | typeof TEST_TYPE;
  readonly at: number;
  readonly sequence: number;
  readonly data: Readonly<Record<string, string>>;
};

export const messageOf = ({ userId, sequence, event }: Delivery): WebhookMessage => {
  const { id, type, at, sessionId, reason } = event;
  const data = { userId, ...(sessionId !== null && { sessionId }), ...(reason !== null && { reason }) };
  return { id: `msg_${id}`, type, at, sequence, data };
};

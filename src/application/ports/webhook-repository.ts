import type { Delivery, Webhook } from '../../domain/webhook.ts';

/**
 * Stores webhooks, and what they are still to be told of. Deliveries are added by `EventRepository.add`, with the events.
 * - lists, changes and removes webhooks, and their deliveries with them
 * - adds a delivery for each webhook that subscribes to an event, also to the deletion of its user
 * - numbers the events of a user, and hands out one at a time to each webhook, in this order
 * - goes on with the next event of a user when one is settled or given up, also one that is added meanwhile
 * - hands out each delivery to one of many, and again when its lease has ended
 * - hands out what was given up after a replay, in order
 * - purges deliveries of events before a time, and goes on with those behind them
 * - counts what waits, and knows whether a webhook has too many deliveries
 */
export interface WebhookRepository {
  /** In the order in which they were added. */
  list(): Promise<Webhook[]>;
  add(webhook: Webhook): Promise<void>;
  /** @returns the webhook after the change; `null` if there is none. */
  change(id: string, change: Partial<Omit<Webhook, 'id'>>): Promise<Webhook | null>;
  /** @returns whether there was one. */
  remove(id: string): Promise<boolean>;
  /** Takes deliveries that are due, the earliest first. They are due again at `until`. */
  claim(given: {
    readonly webhookId: string;
    readonly now: number;
    readonly until: number;
    readonly limit: number;
  }): Promise<Delivery[]>;
  postpone(delivery: Delivery, until: number): Promise<void>;
  /** Ends a delivery, within a transaction. @param outcome `given-up` keeps it for a replay. @param now when the next one is due. */
  settle(delivery: Delivery, outcome: 'delivered' | 'given-up', now: number): Promise<void>;
  /**
   * Makes all deliveries of one user due again, within a transaction.
   * @param after the user of the call before; `''` for the first one.
   * @returns the user; `null` when there is none left.
   */
  replay(webhookId: string, after: string, now: number): Promise<string | null>;
  /** Whether a webhook has this many deliveries, those that were given up among them. */
  hasAtLeast(webhookId: string, count: number): Promise<boolean>;
  /** @returns how many, of a thousand at most, and the time of the oldest. */
  waiting(): Promise<{ readonly count: number; readonly since: number | null }>;
  /** Removes deliveries of events from before a time, and those of webhooks that are gone, within a transaction. @returns how many of the former. */
  purge(before: number, limit: number, now: number): Promise<number>;
}

import type { AccountEvent, Device, EventKind } from '../../domain/event.ts';

export type EventsQuery = {
  readonly userId: string;
  /** The id of the last event of the page before; `null` for the first page. */
  readonly before: string | null;
  readonly limit: number;
};

type AllEventsQuery = {
  /** The last event of the page before; `null` for the first page. */
  readonly before: Pick<AccountEvent, 'at' | 'id'> | null;
  readonly limit: number;
};

/**
 * Stores the events of accounts. Events are only added, counted and purged.
 * - lists the events of one user, the latest first
 * - continues a list after the last event of the page before
 * - lists nothing of another user
 * - lists the events of all users by their time, the latest first, and continues that list also between events of one time
 * - ignores an event of an unknown user, and adds those of others
 * - adds refused log-ins of one hour to one event
 * - adds log-ins on one device within an hour to one event
 * - keeps a thousand events of a user, or a few more, and lets many of one kind push out none of another
 * - knows whether a user has logged in on a device
 * - counts the events of a kind since a time
 * - purges events from before a time, at most as many as it is asked to, the oldest first, each once
 * - hands out each event of an operator once, the earliest first, also when two instances ask and the user is deleted
 */
export interface EventRepository {
  /**
   * Adds events, among them one log-in of a user at most. It is counted in the event of its device and hour, which keeps the last session and request.
   * Refused log-ins are counted in the event of their user and hour, which keeps the last request and device.
   * @param isListed whether what they say has ended is added to `EndedSessions`. Default: it is.
   */
  add(events: readonly AccountEvent[], isListed?: boolean): Promise<void>;
  list(query: EventsQuery): Promise<AccountEvent[]>;
  listAll(query: AllEventsQuery): Promise<AccountEvent[]>;
  /** Whether the user has registered or logged in with this user agent from this network. */
  knowsDevice(userId: string, device: Device): Promise<boolean>;
  countSince(userId: string, kind: EventKind, since: number): Promise<number>;
  purge(before: number, limit: number): Promise<number>;
  /**
   * Takes the events with an actor that were added and not taken yet, for the audit log of the service: operators add them in other
   * processes. They stay in the list.
   */
  takeOperated(limit: number): Promise<AccountEvent[]>;
}

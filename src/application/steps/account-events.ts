import type { AccountEvent } from '../../domain/event.ts';
import type { EventRepository } from '../ports/event-repository.ts';

/** An event without the id of the user. */
export type EventData = Omit<AccountEvent, 'userId'>;

/** Few enough that other requests do not wait for a page. */
const PAGE_SIZE = 250;

/** The events of a user in pages, the latest first. A page is read when it is asked for. */
export const eventPages = async function* (events: EventRepository, userId: string): AsyncGenerator<EventData[]> {
  let before: string | null = null;
  for (;;) {
    const page: readonly AccountEvent[] = await events.list({ userId, before, limit: PAGE_SIZE });
    yield page.map(eventData);
    if (page.length < PAGE_SIZE) return;
    before = page.at(-1)?.id ?? null;
  }
};

/** The latest events of a user, the latest first. @param limit at most this many. */
export const latestEvents = async (events: EventRepository, userId: string, limit: number): Promise<EventData[]> =>
  (await events.list({ userId, before: null, limit })).map(eventData);

/** Lists the fields that are given out, so that a new field is private by default. */
const eventData = (event: AccountEvent): EventData => ({
  id: event.id,
  kind: event.kind,
  at: event.at,
  sessionId: event.sessionId,
  reason: event.reason,
  count: event.count,
  requestId: event.requestId,
  userAgent: event.userAgent,
  address: event.address,
});

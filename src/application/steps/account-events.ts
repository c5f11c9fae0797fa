import type { AccountEvent } from '../../domain/event.ts';
import type { EventRepository } from '../ports/event-repository.ts';

/** An event without the id of the user. */
export type EventData = Omit<AccountEvent, 'userId'>;

const PAGE_SIZE = 1_000;

/** The events of a user in pages, the latest first. A page is read when it is asked for. */
export const eventPages = async function* (
  events: EventRepository,
  userId: string,
  pageSize = PAGE_SIZE,
): AsyncGenerator<EventData[]> {
  let before: string | null = null;
  for (;;) {
    const page: readonly AccountEvent[] = await events.list({ userId, before, limit: pageSize });
    yield page.map(eventData);
    if (page.length < pageSize) return;
    before = page.at(-1)?.id ?? null;
  }
};

/** The latest events of a user, the latest first. @param limit at most this many. */
export const latestEvents = async (events: EventRepository, userId: string, limit: number): Promise<EventData[]> => {
  const found: EventData[] = [];
  for await (const page of eventPages(events, userId, Math.min(limit, PAGE_SIZE))) {
    found.push(...page);
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
};

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

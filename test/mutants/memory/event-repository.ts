import type { EventRepository } from '../../../src/application/ports/event-repository.ts';
import { type AccountEvent, countingPeriodOf, EVENTS_KEPT } from '../../../src/domain/event.ts';
import { memoryTables, type Tables } from './tables.ts';

type MemoryEventRepository = EventRepository & { removeOfUser(userId: string): void };

/** Keeps events in memory until the process ends. @param hasUser whether there is such a user. */
export const memoryEventRepository = (
  hasUser: (userId: string) => boolean,
  tables: Tables = memoryTables(),
): MemoryEventRepository => {
  const events = tables.open<AccountEvent>('events');
  const operated = tables.open<AccountEvent>('operations');
  const all = () => [...events.values()];
  const ofUser = (userId: string) => all().filter((event) => event.userId === userId);

  const add = (event: AccountEvent) => {
    if (!hasUser(event.userId)) return;
    const first = ofUser(event.userId).find((each) => isCountedWith(each, event));
    events.set(first?.id ?? event.id, first === undefined ? { ...event } : countedTogether(first, event));
    for (const { id } of evictedEvents(ofUser(event.userId))) events.delete(id);
  };

  return {
    async add(added) {
      added.forEach(add);
      for (const event of added) if (event.actor !== null) operated.set(event.id, { ...event });
    },
    async addRefusedLogins(refusals) {
      for (const refused of refusals)
        add({ ...refused, kind: 'login-refused', sessionId: null, reason: null, actor: null });
    },
    list: async ({ userId, before, limit }) =>
      ofUser(userId)
        .filter(({ id }) => before === null || id < before)
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .slice(0, limit)
        .map((event) => ({ ...event })),
    knowsDevice: async (userId, { userAgent, address }) =>
      ofUser(userId).some(
        (event) =>
          (event.kind === 'registered' || event.kind === 'logged-in') &&
          event.userAgent === userAgent &&
          event.address === address,
      ),
    countSince: async (userId, kind, since) =>
      ofUser(userId).filter((event) => event.kind === kind && event.at >= since).length,
    async purge(before, limit) {
      const old = all()
        .filter(({ at }) => at < before)
        .sort((a, b) => a.at - b.at)
        .slice(0, limit);
      for (const { id } of old) events.delete(id);
      return old.length;
    },
    async takeOperated(limit) {
      const taken = [...operated.values()].sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
      for (const { id } of taken) operated.delete(id);
      return taken;
    },
    removeOfUser(userId) {
      for (const { id } of ofUser(userId)) events.delete(id);
    },
  };
};

/** Those of one user that go, so that `EVENTS_KEPT` are left. */
export const evictedEvents = (events: readonly AccountEvent[]): AccountEvent[] => {
  if (events.length <= EVENTS_KEPT) return [];
  const seen = new Map<string, number>();
  const latestFirst = events.toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const placed = latestFirst.map((event) => {
    const kind = `${event.kind} ${event.reason}`;
    const place = (seen.get(kind) ?? 0) + 1;
    seen.set(kind, place);
    return { event, place };
  });
  // A stable sort: of one place, the latest comes first.
  const byPlace = placed.sort((a, b) => a.place - b.place);
  return byPlace.slice(EVENTS_KEPT).map(({ event }) => event);
};

/** Whether two events are stored as one: refused log-ins of a user within an hour, or log-ins on one device within an hour. */
export const isCountedWith = (a: AccountEvent, b: AccountEvent): boolean =>
  a.userId === b.userId &&
  a.kind === b.kind &&
  countingPeriodOf(a.at) === countingPeriodOf(b.at) &&
  (a.kind === 'login-refused' || (a.kind === 'logged-in' && a.userAgent === b.userAgent && a.address === b.address));

/** Two such events as one, with the id of the first and the other fields of the last. */
export const countedTogether = (first: AccountEvent, last: AccountEvent): AccountEvent => ({
  ...last,
  id: first.id,
  count: first.count + last.count,
});

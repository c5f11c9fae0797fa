import { type AccountEvent, EVENTS_KEPT } from '../../../../src/domain/event.ts';
import { evictedEvents } from '../../memory/event-repository.ts';
import { addedTo, allIn, earlierIn, type Faults, rowsOf } from './fault.ts';

const KEEPS = 'keeps a thousand events of a user, and lets many of one kind push out none of another';

/** Adds events, and then removes what `evicted` says of those of each user. */
const bounded =
  (evicted: (events: readonly AccountEvent[]) => readonly AccountEvent[]): Faults[string]['wrong'] =>
  (_correct, { tables }) => ({
    add: async (events) => {
      for (const event of events) rowsOf(tables).set(event.id, { ...event });
      for (const userId of new Set(events.map((event) => event.userId)))
        for (const { id } of evicted(allIn(tables).filter((event) => event.userId === userId)))
          rowsOf(tables).delete(id);
    },
  });

const oldest = (events: readonly AccountEvent[]): AccountEvent[] =>
  events.toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(EVENTS_KEPT);

export const BOUNDING: Faults = {
  'keeps every event': { wrong: bounded(() => []), caughtBy: KEEPS },
  'keeps the latest events of whatever kind': { wrong: bounded(oldest), caughtBy: KEEPS },
  'takes all ends of sessions for one kind': {
    wrong: bounded((events) => evictedEvents(events.map((event) => ({ ...event, reason: null })))),
    caughtBy: KEEPS,
  },
  'bounds the events of all users together': {
    wrong: ({ add }, { tables }) => ({
      add: async (events) => {
        await add(events);
        for (const { id } of evictedEvents(allIn(tables))) rowsOf(tables).delete(id);
      },
    }),
    caughtBy: KEEPS,
  },
  'does not bound the events of refused log-ins': {
    wrong: (_correct, { tables, hasUser }) => ({
      addRefusedLogins: async (refusals) => {
        for (const refused of refusals.filter(({ userId }) => hasUser(userId))) {
          const event = addedTo(earlierIn(tables, refused), refused);
          rowsOf(tables).set(event.id, event);
        }
      },
    }),
    caughtBy: KEEPS,
  },
};

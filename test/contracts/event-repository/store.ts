import type { EventRepository } from '../../../src/application/ports/event-repository.ts';
import { type AccountEvent, COUNTING_PERIOD } from '../../../src/domain/event.ts';
import { anEvent, anId, NOW } from '../../support/builders.ts';
import type { GivenRecords, RecordsStore } from '../records/store.ts';

export type EventStore = RecordsStore<EventRepository>;
export type GivenEvents = GivenRecords<EventRepository>;

/** The start of a period. */
export const HOUR = NOW - (NOW % COUNTING_PERIOD);
export const ORIGIN = { requestId: anId(), userAgent: 'Mozilla/5.0 (“Ünïcode” / 1)', address: '203.0.113.0/24' };
export const NOWHERE = { requestId: null, userAgent: null, address: null };

export const refusals = (given: Partial<AccountEvent>): AccountEvent =>
  anEvent({ kind: 'login-refused', at: HOUR, ...ORIGIN, ...given });
export const listAll = (events: EventRepository, userId: string): Promise<AccountEvent[]> =>
  events.list({ userId, before: null, limit: 2_000 });
/** Events of one user, each a millisecond after the one before. */
export const series = (userId: string, count: number, given: Partial<AccountEvent> = {}): AccountEvent[] =>
  Array.from({ length: count }, (_, at) => anEvent({ userId, at: NOW + at, ...given }));

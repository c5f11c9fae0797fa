import type { EventRepository, RefusedLogins } from '../../../../src/application/ports/event-repository.ts';
import { type AccountEvent, countingPeriodOf } from '../../../../src/domain/event.ts';
import type { Tables } from '../../memory/tables.ts';
import type { Faults as FaultsOf } from '../../records/in-memory.ts';

export type Faults = FaultsOf<EventRepository>;

/** More than a test stores. */
export const ALL = 1_000;

export const rowsOf = (tables: Tables) => tables.open<AccountEvent>('events');

export const allIn = (tables: Tables): AccountEvent[] => [...rowsOf(tables).values()];

/** The event of the user that counts the refused log-ins of the same hour. */
export const earlierIn = (tables: Tables, { userId, at }: RefusedLogins): AccountEvent | undefined =>
  allIn(tables).find(
    (event) =>
      event.userId === userId && event.kind === 'login-refused' && countingPeriodOf(event.at) === countingPeriodOf(at),
  );

/** The refused log-ins as an event, added to an earlier one. */
export const addedTo = (earlier: AccountEvent | undefined, refused: RefusedLogins): AccountEvent => ({
  ...refused,
  id: earlier?.id ?? refused.id,
  count: refused.count + (earlier?.count ?? 0),
  kind: 'login-refused',
  sessionId: null,
  reason: null,
  actor: null,
});

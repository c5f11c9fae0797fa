import { type Happening, newEvent, type Origin, type SessionEnding } from '../../domain/event.ts';
import { newMessage, type Telling } from '../../domain/message.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdGenerator } from '../ports/id-generator.ts';
import type { Stores, UnitOfWork } from '../ports/unit-of-work.ts';

export type RecordDeps = { readonly clock: Clock; readonly ids: IdGenerator };

/** What a use case needs that changes something and records it. */
export type ChangeDeps = RecordDeps & { readonly unitOfWork: UnitOfWork };

/** Stores what happened, in the unit of work that makes it happen. */
export const record = (
  { clock, ids }: RecordDeps,
  { events }: Pick<Stores, 'events'>,
  origin: Origin,
  happenings: readonly Happening[],
): Promise<void> => {
  const at = clock.now();
  return events.add(happenings.map((happening) => newEvent(happening, { id: ids.next(), at, origin })));
};

/** Stores messages to send, in the unit of work that makes what they tell. */
export const tell = async (
  { clock, ids }: RecordDeps,
  { outbox }: Pick<Stores, 'outbox'>,
  origin: Origin,
  tellings: readonly Telling[],
): Promise<void> => {
  const at = clock.now();
  await outbox.add(tellings.map((telling) => newMessage(telling, { id: ids.next(), at, origin })));
};

/** The endings of sessions of one user. */
export const endings = (userId: string, ids: readonly string[], reason: SessionEnding): Happening[] =>
  ids.map((sessionId) => ({ userId, kind: 'session-ended', sessionId, reason }));

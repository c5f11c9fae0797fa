import { withoutName } from '../../domain/event.ts';
import type { EventRepository, EventsQuery } from '../ports/event-repository.ts';
import { type Caller, type LiveUserDeps, liveUser } from '../sessions/live-user.ts';

type ListEventsDeps = LiveUserDeps & { readonly events: EventRepository };

/**
 * A page of the events of an account, the latest first.
 * @returns the events, and the value of `before` for the next page; `null` on the last page.
 * @throws AppError AUTH_TOKEN_INVALID, DB_RECORD_NOT_FOUND
 */
export const listEvents =
  (deps: ListEventsDeps) =>
  async (caller: Caller, { before, limit }: Omit<EventsQuery, 'userId'>) => {
    const { id: userId } = await liveUser(deps, caller);
    const found = await deps.events.list({ userId, before, limit: limit + 1 });
    const page = found.slice(0, limit);
    return { events: page.map(withoutName), next: found.length > limit ? (page.at(-1)?.id ?? null) : null };
  };

import { AppError } from '../../domain/errors/app-error.ts';
import type { AccountEvent } from '../../domain/event.ts';
import type { EventRepository } from '../ports/event-repository.ts';
import type { UserRepository } from '../ports/user-repository.ts';

export type ListEventsDeps = { readonly events: EventRepository; readonly users: UserRepository };

type EventsPage = {
  readonly events: readonly AccountEvent[];
  /** What continues the list as `before`; `null` on the last page. */
  readonly next: string | null;
};

type Page = {
  /** The id of the last event of the page before; `null` for the first page. */
  readonly before: string | null;
  readonly limit: number;
};

/**
 * What happened to an account, the latest first. The user is only looked up when there is no event: events go with their user.
 * @throws AppError DB_RECORD_NOT_FOUND
 */
export const listEvents =
  ({ events, users }: ListEventsDeps) =>
  async (userId: string, { before, limit }: Page): Promise<EventsPage> => {
    const found = await events.list({ userId, before, limit: limit + 1 });
    if (found.length === 0 && (await users.findById(userId)) === null)
      throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user does not exist' });
    const page = found.slice(0, limit);
    return { events: page, next: found.length > limit ? (page.at(-1)?.id ?? null) : null };
  };

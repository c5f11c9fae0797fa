import { withoutName } from '../../domain/event.ts';
import { NEVER_CANCELLED } from '../cancellation.ts';
import type { Clock } from '../ports/clock.ts';
import type { Stores } from '../ports/transactions.ts';
import { type Caller, liveUser } from '../sessions/live-user.ts';
import { accountData, eventsData } from './account-data.ts';

export type ExportAccountDeps = Stores & { readonly clock: Clock };

export type ExportedAccount = Awaited<ReturnType<ReturnType<typeof exportAccount>>>;

/**
 * Everything that is stored about a user, without secrets, and when it was read. The events come the latest first.
 * @throws AppError AUTH_TOKEN_INVALID, DB_RECORD_NOT_FOUND
 */
export const exportAccount =
  (deps: ExportAccountDeps) =>
  async (caller: Caller, cancellation = NEVER_CANCELLED) => {
    cancellation.throwIfAborted();
    const user = await liveUser(deps, caller);
    const exportedAt = deps.clock.now();
    const data = await accountData(deps, user, exportedAt);
    const events = (await eventsData(deps.events, user.id)).map(withoutName);
    // The number of attempts is of interest to the operator only.
    const messages = data.messages.map(({ attempts: _, ...message }) => message);
    return { ...data, messages, events, exportedAt };
  };

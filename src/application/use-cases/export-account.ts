import { AppError } from '../../domain/errors/app-error.ts';
import type { Clock } from '../ports/clock.ts';
import type { Stores } from '../ports/unit-of-work.ts';
import { type AccountData, accountData } from '../steps/account-data.ts';
import { type EventData, latestEvents } from '../steps/account-events.ts';

export type ExportAccountDeps = Stores & { readonly clock: Clock };

/** Bounds the memory and the time of an export: the older events are listed page by page. */
const EVENTS_EXPORTED = 5_000;

export type ExportedAccount = Omit<AccountData, 'messages'> & {
  readonly messages: Omit<AccountData['messages'][number], 'attempts'>[];
  /** The latest first. */
  readonly events: EventData[];
  /** Epoch milliseconds. */
  readonly exportedAt: number;
  /** The id from which on the older events are listed; `null` when all are here. */
  readonly eventsBefore: string | null;
};

/**
 * Everything that is stored about a user, without secrets.
 * @throws AppError DB_RECORD_NOT_FOUND
 */
export const exportAccount =
  (deps: ExportAccountDeps) =>
  async (userId: string): Promise<ExportedAccount> => {
    const user = await deps.users.findById(userId);
    if (user === null) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user does not exist' });
    const exportedAt = deps.clock.now();
    const [data, latest] = await Promise.all([
      accountData(deps, user, exportedAt),
      latestEvents(deps.events, userId, EVENTS_EXPORTED + 1),
    ]);
    const events = latest.slice(0, EVENTS_EXPORTED);
    const isWhole = latest.length <= EVENTS_EXPORTED;
    // How often the service tried to send a mail is for its operator.
    const messages = data.messages.map(({ attempts: _, ...message }) => message);
    return { ...data, messages, events, exportedAt, eventsBefore: isWhole ? null : (events.at(-1)?.id ?? null) };
  };

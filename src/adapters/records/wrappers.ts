import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from 'pino';
import type { EventRepository } from '../../application/ports/event-repository.ts';
import type { Outbox } from '../../application/ports/outbox.ts';
import type { Stores, UnitOfWork } from '../../application/ports/unit-of-work.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { AccountEvent } from '../../domain/event.ts';
import { waitsForPoll } from '../../domain/message.ts';

const units = new AsyncLocalStorage<true>();

/**
 * Runs a unit of work, unless the caller is within one: a nested unit could wait for the outer one for ever, or be kept when the outer one
 * fails.
 * @throws AppError SYS_UNEXPECTED_ERROR
 *
 * @example
 * const unitOfWork: UnitOfWork = { run: (work) => outsideOfUnits(() => database.transaction(() => work(stores))) };
 */
export const outsideOfUnits = async <Result>(run: () => Promise<Result>): Promise<Result> => {
  if (units.getStore() === true)
    throw new AppError('SYS_UNEXPECTED_ERROR', { reason: 'a unit of work within another' });
  return units.run(true, run);
};

/** @param isAll whether to send the messages that wait for a poll as well, because there are so many. */
type OnAdded = (isAll: boolean) => void;

/** @param onAdded called when messages were added that are to be sent at once. Messages that wait for a poll do not count, unless there are many. */
export const watchedOutbox = (outbox: Outbox, onAdded: OnAdded): Outbox => ({
  async add(messages) {
    const isHalfFull = await outbox.add(messages);
    if (isHalfFull || !messages.every(waitsForPoll)) onAdded(isHalfFull);
    return isHalfFull;
  },
  claim: (claim) => outbox.claim(claim),
  identify: (id, identity) => outbox.identify(id, identity),
  postpone: (id, until) => outbox.postpone(id, until),
  remove: (ids) => outbox.remove(ids),
  listByUser: (userId) => outbox.listByUser(userId),
  admit: (admission) => outbox.admit(admission),
  purge: (now, limit) => outbox.purge(now, limit),
  waiting: () => outbox.waiting(),
});

/** The messages of a unit of work can be claimed when it has ended. */
export const watchedUnitOfWork = (unitOfWork: UnitOfWork, onAdded: OnAdded): UnitOfWork => ({
  async run(work) {
    let isAdded = false;
    const noteAdded = () => {
      isAdded = true;
    };
    const result = await unitOfWork.run((stores) =>
      work({ ...stores, outbox: watchedOutbox(stores.outbox, noteAdded) }),
    );
    if (isAdded) onAdded(false);
    return result;
  },
});

/**
 * Reports the events of each unit of work after its commit: not those of a unit that failed, and once for a unit that ran twice.
 * @param audit called with the events that were stored, or taken.
 */
export const auditedUnitOfWork = (
  unitOfWork: UnitOfWork,
  audit: (events: readonly AccountEvent[]) => void,
): UnitOfWork => ({
  async run(work) {
    let kept: AccountEvent[] = [];
    const result = await unitOfWork.run(async (stores) => {
      const added: AccountEvent[] = [];
      kept = added;
      const events = noting(stores.events, (...noted) => void added.push(...noted));
      return work({ ...stores, events } satisfies Stores);
    });
    audit(kept);
    return result;
  },
});

const AUDIT_MESSAGE = 'account event';

/**
 * Writes a line for each event (ADR 0011): `warn` for a replayed token, else `info`. None for a session that has expired: nobody did anything, and
 * the purge says how many there were.
 */
export const auditLog =
  (logger: Logger, onEvent?: (event: AccountEvent) => void) =>
  (events: readonly AccountEvent[]): void => {
    for (const event of events) {
      if (event.reason !== 'expired')
        logger[event.reason === 'token-replayed' ? 'warn' : 'info'](lineOf(event), AUDIT_MESSAGE);
      onEvent?.(event);
    }
  };

/** Without the user agent, which any client can choose. With the time of what an operator did: it is logged up to a minute later. */
const lineOf = ({ kind, userId, at, sessionId, reason, count, requestId, address, actor }: AccountEvent) => ({
  kind,
  userId,
  ...(sessionId !== null && { sessionId }),
  ...(reason !== null && { reason }),
  ...(kind === 'login-refused' && { count }),
  ...(requestId !== null && { requestId }),
  ...(address !== null && { address }),
  ...(actor !== null && { actor, at: new Date(at).toISOString() }),
});

const noting = (events: EventRepository, note: (...events: readonly AccountEvent[]) => void): EventRepository => ({
  async add(added) {
    await events.add(added);
    note(...added);
  },
  async addRefusedLogins(refusals) {
    await events.addRefusedLogins(refusals);
    for (const refused of refusals)
      note({ ...refused, kind: 'login-refused', sessionId: null, reason: null, actor: null });
  },
  async takeOperated(limit) {
    const taken = await events.takeOperated(limit);
    note(...taken);
    return taken;
  },
  list: (query) => events.list(query),
  knowsDevice: (userId, device) => events.knowsDevice(userId, device),
  countSince: (userId, kind, since) => events.countSince(userId, kind, since),
  purge: (before, limit) => events.purge(before, limit),
});

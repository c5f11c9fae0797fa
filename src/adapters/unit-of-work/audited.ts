import type { EventRepository } from '../../application/ports/event-repository.ts';
import type { Stores, UnitOfWork } from '../../application/ports/unit-of-work.ts';
import type { AccountEvent } from '../../domain/event.ts';

/**
 * Reports the events of each unit of work after their commit. Those of a unit that failed, or was run again, are not reported.
 * @param audit gets what was stored, once.
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

const noting = (events: EventRepository, note: (...events: readonly AccountEvent[]) => void): EventRepository => ({
  async add(added) {
    await events.add(added);
    note(...added);
  },
  async addRefusals(refusals) {
    await events.addRefusals(refusals);
    for (const refused of refusals) note({ ...refused, kind: 'login-refused', sessionId: null, reason: null });
  },
  list: (query) => events.list(query),
  knowsDevice: (userId, device) => events.knowsDevice(userId, device),
  countSince: (userId, kind, since) => events.countSince(userId, kind, since),
  purge: (before, limit) => events.purge(before, limit),
});

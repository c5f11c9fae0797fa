import type { Outbox } from '../../application/ports/outbox.ts';
import type { UnitOfWork } from '../../application/ports/unit-of-work.ts';
import { mayWait } from '../../domain/message.ts';

/** @param onAdded called when messages were added, so that they are sent at once; not for those that may wait. */
export const watchedOutbox = (outbox: Outbox, onAdded: () => void): Outbox => ({
  async add(messages) {
    await outbox.add(messages);
    if (!messages.every(mayWait)) onAdded();
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

/** Messages of a unit of work are there when it has ended. */
export const watchedUnitOfWork = (unitOfWork: UnitOfWork, onAdded: () => void): UnitOfWork => ({
  async run(work) {
    let isAdded = false;
    const noteAdded = () => {
      isAdded = true;
    };
    const result = await unitOfWork.run((stores) =>
      work({ ...stores, outbox: watchedOutbox(stores.outbox, noteAdded) }),
    );
    if (isAdded) onAdded();
    return result;
  },
});

import type { Outbox } from '../../application/ports/outbox.ts';
import type { UnitOfWork } from '../../application/ports/unit-of-work.ts';
import { mayWait } from '../../domain/message.ts';

/** @param isAll whether those that may wait are to be sent as well, since there are so many. */
type OnAdded = (isAll: boolean) => void;

/** @param onAdded called when messages were added, so that they are sent at once; not for those that may wait, unless there are many. */
export const watchedOutbox = (outbox: Outbox, onAdded: OnAdded): Outbox => ({
  async add(messages) {
    const isHalfFull = await outbox.add(messages);
    if (isHalfFull || !messages.every(mayWait)) onAdded(isHalfFull);
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

/** Messages of a unit of work are there when it has ended. */
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

import type { SessionRepository } from '../../application/ports/session-repository.ts';
import type { Stores, UnitOfWork } from '../../application/ports/unit-of-work.ts';
import { outsideOfUnits } from './nesting.ts';
import { sessionsOfUnit } from './sessions-of-unit.ts';

/** Stores that cannot be changed together: each change is kept at once, also when the work fails later. */
export const separateStores = (stores: Stores): UnitOfWork => ({ run: (work) => outsideOfUnits(() => work(stores)) });

/** Sessions in a store of their own, beside stores that are changed together. */
export const withSessionsElsewhere = (unitOfWork: UnitOfWork, sessions: SessionRepository): UnitOfWork => ({
  run(work) {
    const unit = sessionsOfUnit(sessions);
    return unitOfWork
      .run((stores) => work({ ...stores, sessions: unit.begin() }))
      .catch(async (error: unknown) => {
        await unit.endAdded();
        throw error;
      });
  },
});

import { AppError } from '../../domain/errors/app-error.ts';
import type { Origin } from '../../domain/event.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { type RecordDeps, record } from '../steps/record.ts';

export type EnableAccountDeps = RecordDeps & { readonly unitOfWork: UnitOfWork };

/**
 * Enables an account that was disabled.
 * @returns whether it was disabled.
 * @throws AppError DB_RECORD_NOT_FOUND
 */
export const enableAccount =
  (deps: EnableAccountDeps) =>
  (userId: string, origin: Origin): Promise<boolean> =>
    deps.unitOfWork.run(async (stores) => {
      const user = await stores.users.findById(userId);
      if (user === null) throw new AppError('DB_RECORD_NOT_FOUND');
      const { disabledAt } = user;
      if (disabledAt === null) return false;
      const enabled = await stores.users.update(userId, { disabledAt: null, now: deps.clock.now() }, { disabledAt });
      if (enabled !== null) await record(deps, stores, origin, [{ userId, kind: 'enabled' }]);
      return enabled !== null;
    });

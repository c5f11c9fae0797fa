import { AppError } from '../../domain/errors/app-error.ts';
import type { Origin } from '../../domain/event.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { endSessionsOf } from '../steps/end-sessions.ts';
import { type RecordDeps, record } from '../steps/record.ts';

export type DisableAccountDeps = RecordDeps & { readonly unitOfWork: UnitOfWork };

type Disabled = {
  /** `false` when it was disabled already. */
  readonly changed: boolean;
  readonly endedSessions: number;
};

/**
 * Disables an account and ends its sessions. A log-in and a refresh at the same time check afterwards whether the account is disabled
 * (login.ts, refresh.ts).
 * @throws AppError DB_RECORD_NOT_FOUND
 */
export const disableAccount =
  (deps: DisableAccountDeps) =>
  (userId: string, origin: Origin): Promise<Disabled> =>
    deps.unitOfWork.run(async (stores) => {
      const now = deps.clock.now();
      const disabled = await stores.users.update(userId, { disabledAt: now, now }, { disabledAt: null });
      const changed = disabled !== null;
      if (!changed && (await stores.users.findById(userId)) === null) throw new AppError('DB_RECORD_NOT_FOUND');
      if (changed) await record(deps, stores, origin, [{ userId, kind: 'disabled' }]);
      const endedSessions = await endSessionsOf(
        deps,
        stores,
        { userId, exceptId: null },
        { reason: 'operator', origin },
      );
      return { changed, endedSessions };
    });

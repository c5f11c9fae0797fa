import type { Origin } from '../../domain/event.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import { endSessionsOf } from '../steps/end-sessions.ts';
import type { RecordDeps } from '../steps/record.ts';

export type EndSessionsAsOperatorDeps = RecordDeps & { readonly unitOfWork: UnitOfWork };

/** Ends all sessions of a user. @returns how many. */
export const endSessionsAsOperator =
  (deps: EndSessionsAsOperatorDeps) =>
  (userId: string, origin: Origin): Promise<number> =>
    deps.unitOfWork.run((stores) =>
      endSessionsOf(deps, stores, { userId, exceptId: null }, { reason: 'operator', origin }),
    );

import type { Origin } from '../../domain/event.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { RecordDeps } from '../steps/record.ts';
import { removeAccount } from '../steps/remove-account.ts';

export type DeleteAccountAsOperatorDeps = RecordDeps & { readonly unitOfWork: UnitOfWork };

/** Deletes a user with everything that is stored about them. @returns whether there was such a user. */
export const deleteAccountAsOperator =
  (deps: DeleteAccountAsOperatorDeps) =>
  (userId: string, origin: Origin): Promise<boolean> =>
    deps.unitOfWork.run((stores) => removeAccount(deps, stores, { id: userId }, { origin }));

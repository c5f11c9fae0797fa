import { AppError } from '../../domain/errors/app-error.ts';
import { type Caller, lockedLiveUser } from '../steps/live-user.ts';
import type { ChangeDeps } from '../steps/record.ts';
import { type CurrentUser, currentUser } from './current-user.ts';

/**
 * Changes the language of a user's mails. That is no event of the account: nobody's access depends on it.
 * @param locale canonical.
 * @returns the user as stored now.
 * @throws AppError AUTH_TOKEN_INVALID, DB_RECORD_NOT_FOUND
 */
export const changeLocale =
  (deps: Pick<ChangeDeps, 'clock' | 'unitOfWork'>) =>
  (caller: Caller, locale: string): Promise<CurrentUser> =>
    deps.unitOfWork.run(async (stores) => {
      const before = await lockedLiveUser(deps, stores, caller);
      if (before.locale === locale) return currentUser(stores, before);
      const changed = await stores.users.update(before.id, { locale, now: deps.clock.now() });
      if (changed === null) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user does not exist' });
      return currentUser(stores, changed);
    });

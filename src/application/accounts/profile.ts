import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN } from '../../domain/event.ts';
import { NO_LOCALE } from '../../domain/locale.ts';
import { type PublicUser, publicUser } from '../../domain/user.ts';
import { recordChange } from '../notices.ts';
import type { Core } from '../service.ts';
import { type Caller, type CurrentUser, currentUser, lockedLiveUser } from '../sessions/current-user.ts';

/** Changes the username. The former one is free at once (ADR 0010). */
export const changeUsername =
  (deps: Core) =>
  (caller: Caller, username: string, origin = NO_ORIGIN): Promise<PublicUser> =>
    deps.transactions.run(async (stores) => {
      const before = await lockedLiveUser(deps, stores, caller);
      if (before.username === username) return publicUser(before);
      const changed = await stores.users.update(before.id, { username, now: deps.clock.now() });
      if (changed === null) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user does not exist' });
      await recordChange(deps, stores, { kind: 'username-changed', user: before, origin });
      return publicUser(changed);
    });

/**
 * Changes the language of a user's mails. A thief could have all warnings written in a language that the owner does not read, so the
 * change is an event, and a notice in the former language reports it.
 * @param locale canonical.
 */
export const changeLocale =
  (deps: Core) =>
  (caller: Caller, locale: string, origin = NO_ORIGIN): Promise<CurrentUser> =>
    deps.transactions.run(async (stores) => {
      const before = await lockedLiveUser(deps, stores, caller);
      if (before.locale === locale) return currentUser(stores, before);
      const changed = await stores.users.update(before.id, { locale, now: deps.clock.now() });
      if (changed === null) throw new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user does not exist' });
      const user = { ...before, locale: before.locale ?? NO_LOCALE };
      await recordChange(deps, stores, { kind: 'locale-changed', user, sessionId: caller.sessionId, origin });
      return currentUser(stores, changed);
    });

import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { NEVER_CANCELLED } from '../cancellation.ts';
import {
  lockedUserWithPassword,
  type RequestWithPassword,
  type UserWithPasswordDeps,
  userWithPassword,
} from '../login/user-with-password.ts';
import type { ChangeDeps } from '../record.ts';
import { removeAccount } from './remove-account.ts';

type DeleteAccountDeps = UserWithPasswordDeps & ChangeDeps;

type Deletion = RequestWithPassword & { readonly origin?: Origin };

/**
 * Removes a user who knows the password, with everything that is stored about them.
 * @throws AppError AUTH_CREDENTIALS_INVALID, AUTH_TOKEN_INVALID, CLIENT_REQUEST_RATE_LIMIT_EXCEEDED, DB_RECORD_NOT_FOUND
 */
export const deleteAccount =
  (deps: DeleteAccountDeps) =>
  async (input: Deletion, cancellation = NEVER_CANCELLED): Promise<void> => {
    const { origin = NO_ORIGIN } = input;
    const user = await userWithPassword(deps, input);
    cancellation.throwIfAborted();
    await deps.transactions.run(async (stores) => {
      await lockedUserWithPassword(deps, stores, input, user);
      await removeAccount(deps, stores, user.id, origin);
    });
  };

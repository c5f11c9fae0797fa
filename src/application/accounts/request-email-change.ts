import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { canonicalEmail } from '../../domain/user.ts';
import { NEVER_CANCELLED } from '../cancellation.ts';
import {
  lockedUserWithPassword,
  type RequestWithPassword,
  type UserWithPasswordDeps,
  userWithPassword,
} from '../login/user-with-password.ts';
import { type ChangeDeps, enqueue, record } from '../record.ts';

export type RequestEmailChangeDeps = UserWithPasswordDeps & ChangeDeps;

type EmailChange = RequestWithPassword & { readonly email: string; readonly origin?: Origin };

/** How many links to new addresses a user may request in a period. Further requests get the same response, and no mail is sent. */
const REQUESTS_PER_PERIOD = 5;
/** Milliseconds. */
const PERIOD = 3_600_000;

/**
 * Sends a link to a new address of a user who knows the password. The address changes when the link is confirmed. Whether the new address
 * has an account is not looked up.
 * @throws AppError AUTH_CREDENTIALS_INVALID, AUTH_TOKEN_INVALID, CLIENT_REQUEST_RATE_LIMIT_EXCEEDED, DB_RECORD_NOT_FOUND
 */
export const requestEmailChange =
  (deps: RequestEmailChangeDeps) =>
  async (input: EmailChange, cancellation = NEVER_CANCELLED): Promise<void> => {
    const { origin = NO_ORIGIN, sessionId } = input;
    const user = await userWithPassword(deps, input);
    cancellation.throwIfAborted();
    const userId = user.id;
    const to = canonicalEmail(input.email);
    if (to === user.email) return;
    await deps.transactions.run(async (stores) => {
      // A change of the password removes such links; none may be stored after it.
      await lockedUserWithPassword(deps, stores, input, user);
      const requests = await stores.events.countSince(userId, 'email-change-requested', deps.clock.now() - PERIOD);
      if (requests >= REQUESTS_PER_PERIOD) return;
      await record(deps, stores, origin, [{ userId, kind: 'email-change-requested', sessionId }]);
      await enqueue(deps, stores, origin, [{ kind: 'email-change', userId, to }]);
    });
  };

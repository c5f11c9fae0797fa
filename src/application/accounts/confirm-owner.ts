import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import type { User } from '../../domain/user.ts';
import { assertSamePassword, beginAttempt, deviceCodeAttempt, userWithPassword } from '../login/compare-password.ts';
import { hashOfCode, invalidCode } from '../login-code.ts';
import { type Core, enqueue, type Service } from '../service.ts';
import { type Caller, type CallerWithToken, liveUser, lockedLiveUser } from '../sessions/current-user.ts';
import { linkByToken, takeLink } from '../storage/credentials.ts';
import type { Stores } from '../storage/records.ts';

/** Requests a mail to the present address of a user, with a code that confirms a change in place of the password. */
export const requestConfirmationCode =
  (deps: Core) =>
  (caller: Caller, origin = NO_ORIGIN): Promise<void> =>
    deps.transactions.run(async (stores) => {
      const { id: userId, email: to } = await lockedLiveUser(deps, stores, caller);
      await enqueue(deps, stores, origin, [{ kind: 'confirmation-code', userId, to }]);
    });

export type Confirmation = CallerWithToken & {
  readonly password?: string | undefined;
  readonly origin?: Origin;
  /** The code that was mailed to the present address. */
  readonly code?: string | undefined;
};

/**
 * Finds the user of a request that needs more than an access token: the password, or a code that was mailed to the present address.
 * @returns the user, and `lock`, for the transaction of the change: it locks the user, refuses if the password was changed meanwhile, and uses the code up
 */
export const confirmedOwner = async (deps: Service, input: Confirmation) => {
  const { password, code, userId } = input;
  const lockedAs = async (user: User, stores: Stores) =>
    assertSamePassword(user, await lockedLiveUser(deps, stores, input));
  if (password !== undefined) {
    const user = await userWithPassword(deps, { ...input, password });
    return { user, lock: (stores: Stores) => lockedAs(user, stores) };
  }
  if (code === undefined) throw new AppError('CLIENT_PARAMS_VALIDATION_FAILED', { details: MISSING_FIELDS });
  const user = await liveUser(deps, input);
  const attempt = await beginAttempt(deps.attempts, [deviceCodeAttempt(user, input)]);
  const tokenHash = hashOfCode(deps, userId, code);
  const link = await linkByToken(deps.records, 'confirmation-code', tokenHash, deps.clock.now());
  if (link?.email !== user.email) throw invalidCode('the code is wrong, was used, or has expired');
  await deps.attempts.succeed(attempt);
  return {
    user,
    lock: async (stores: Stores) => {
      const locked = await lockedAs(user, stores);
      if ((await takeLink(stores.records, 'confirmation-code', tokenHash, deps.clock.now())) === null)
        throw invalidCode('the code was used');
      return locked;
    },
  };
};

const REQUIRED = 'is required: the password, or a code that was mailed to the present address';
const MISSING_FIELDS = ['password', 'code'].map((field) => ({ field, message: REQUIRED, code: 'required' }) as const);

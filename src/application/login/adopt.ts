import { needsSecondFactor } from '../../domain/assurance.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { User } from '../../domain/user.ts';
import type { VerifyAssertion } from '../ports/proofs.ts';
import { NEVER_CANCELLED, type Service } from '../service.ts';
import { findRememberedDevice } from '../sessions/end-sessions.ts';
import type { ClientContext } from '../sessions/prove-device.ts';
import { passkeysOf, useOnce } from '../storage/credentials.ts';
import { loginClient, openLogin } from './open-login.ts';
import { type LoginResult, newPendingLogin } from './pending-login.ts';

export type AdoptDeps = Service & { readonly verifyAssertion: VerifyAssertion };

type Adoption = ClientContext & { readonly assertion: string };

const invalidAssertion = (reason: string): AppError => new AppError('AUTH_ASSERTION_INVALID', { reason });

/**
 * Opens a session, or a pending log-in if a second factor is missing, by an assertion of the former system, which is used once. A user who needs a second
 * factor and has none is refused: a thief of the former session could add one. A user whose password was changed here is refused as well: the change may
 * have shut out somebody who has a former session. If the session opens at once, no mail reports a new device: all devices are new here.
 */
export const adopt =
  (deps: AdoptDeps) =>
  async (input: Adoption, cancellation = NEVER_CANCELLED): Promise<LoginResult> => {
    const now = deps.clock.now();
    const assertion = await deps.verifyAssertion(input.assertion, now);
    if ('problem' in assertion) throw invalidAssertion(assertion.problem);
    const user = assertFirstPassword(await deps.users.findById(assertion.userId));
    const client = await loginClient(deps, input);
    const rememberedDeviceId = await findRememberedDevice(deps, user, input.rememberedDevices ?? []);
    const login = { user, authentications: [{ method: 'adopted', at: now }], cancellation } as const;
    return openLogin(deps, client, login, async (stores, store): Promise<LoginResult> => {
      const locked = assertFirstPassword(await stores.users.lock(user.id));
      if (!(await useOnce(stores.records, `adoption ${assertion.id}`, assertion.expiresAt)))
        throw invalidAssertion('it was used before');
      if (!needsSecondFactor(deps, locked) || rememberedDeviceId !== null)
        return store(locked, { isKnownDevice: true, rememberedDeviceId });
      const hasFactor = locked.secondFactorAt !== null || (await passkeysOf(stores.records, locked.id)).length > 0;
      if (!hasFactor)
        throw invalidAssertion('the user has to add a second factor, and for that to present something here');
      return { pendingLogin: newPendingLogin(deps, locked, 'adopted') };
    });
  };

const assertFirstPassword = (user: User | null): User => {
  if (user === null) throw invalidAssertion('there is no such user');
  if (user.passwordChangedAt > 0) throw invalidAssertion('the user has another password since');
  return user;
};

import { needsSecondFactor } from '../../domain/assurance.ts';
import type { DeviceKeys } from '../../domain/device-binding.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { Origin } from '../../domain/event.ts';
import { NO_PASSWORD } from '../../domain/password.ts';
import { canonicalRecoveryCode } from '../../domain/second-factor.ts';
import type { User } from '../../domain/user.ts';
import { recordChange } from '../notices.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import type { Cancellation, Service } from '../service.ts';
import { type OpenedSession, prepareSession } from '../sessions/open-session.ts';
import { codesOf, useCode } from '../storage/credentials.ts';
import { assertMayLogIn, storeLogin } from './store-login.ts';

type Recovery = {
  readonly keys: DeviceKeys;
  readonly verified: readonly RefreshToken[];
  readonly origin: Origin;
  readonly cancellation: Cancellation;
};

/**
 * Opens a session for a user who has neither a password nor a second factor, and types a recovery code in place of the password (ADR 0009).
 * @returns `null` for any other text, and with one statement for any other account
 */
export const recover = async (
  deps: Service,
  user: User | null,
  typed: string,
  { keys, verified, origin, cancellation }: Recovery,
): Promise<OpenedSession | null> => {
  const code = canonicalRecoveryCode(typed);
  if (code === null) return null;
  const hash = deps.secrets.hashOf(code);
  const isTheirs = (await codesOf(deps.records, user?.id ?? '')).includes(hash);
  if (user === null || user.passwordHash !== NO_PASSWORD || needsSecondFactor(deps, user) || !isTheirs) return null;
  assertMayLogIn(deps, user);
  const now = deps.clock.now();
  const authentications = [{ method: 'recovery-code', at: now }] as const;
  const { session, opened } = await prepareSession(deps, { user, now, origin, keys, authentications });
  cancellation.throwIfAborted();
  await deps.transactions.run(async (stores) => {
    const locked = await stores.users.lock(user.id);
    if (locked === null || locked.passwordHash !== NO_PASSWORD || !(await useCode(stores.records, user.id, hash)))
      throw new AppError('AUTH_CREDENTIALS_INVALID', {
        reason: 'the recovery code was used, or the user has a password',
      });
    await recordChange(deps, stores, { kind: 'recovery-code-used', user: locked, origin });
    await storeLogin(deps, stores, { user: locked, session, verified, origin });
  });
  return opened;
};

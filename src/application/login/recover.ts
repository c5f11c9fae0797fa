import { needsSecondFactor, type SecondFactorPolicy } from '../../domain/assurance.ts';
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
import { codesOf, identitiesOf, useCode } from '../storage/credentials.ts';
import type { Records } from '../storage/records.ts';
import { assertMayLogIn, storeLogin } from './store-login.ts';

type Recovery = {
  readonly keys: DeviceKeys;
  readonly verified: readonly RefreshToken[];
  readonly origin: Origin;
  readonly cancellation: Cancellation;
};

/** Whether the user has no other way in than passkeys and recovery codes. An address that nobody has proven may be mistyped. */
export const hasNothingElse = async (policy: SecondFactorPolicy, records: Records, user: User): Promise<boolean> =>
  user.passwordHash === NO_PASSWORD &&
  user.emailVerifiedAt === null &&
  !needsSecondFactor(policy, user) &&
  (await identitiesOf(records, user.id)).length === 0;

/**
 * Opens a session for a user who has nothing else, and types a recovery code in place of the password (ADR 0009).
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
  if (user === null || !isTheirs || !(await hasNothingElse(deps, deps.records, user))) return null;
  assertMayLogIn(deps, user);
  const now = deps.clock.now();
  const authentications = [{ method: 'recovery-code', at: now }] as const;
  const { session, opened } = await prepareSession(deps, { user, now, origin, keys, authentications });
  cancellation.throwIfAborted();
  await deps.transactions.run(async (stores) => {
    const locked = await stores.users.lock(user.id);
    const isAlone = locked !== null && (await hasNothingElse(deps, stores.records, locked));
    if (!isAlone || !(await useCode(stores.records, user.id, hash)))
      throw new AppError('AUTH_CREDENTIALS_INVALID', {
        reason: 'the recovery code was used, or the user has another way in',
      });
    await recordChange(deps, stores, { kind: 'recovery-code-used', user: locked, origin });
    await storeLogin(deps, stores, { user: locked, session, verified, origin });
  });
  return opened;
};

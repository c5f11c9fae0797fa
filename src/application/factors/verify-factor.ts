import type { Origin } from '../../domain/event.ts';
import { acceptedSteps, canonicalRecoveryCode, type Factor, isConfirmed } from '../../domain/second-factor.ts';
import type { User } from '../../domain/user.ts';
import { beginAttempt } from '../login/compare-password.ts';
import { invalidSecondFactor } from '../login/pending-login.ts';
import { recordChange } from '../notices.ts';
import type { Attempt } from '../ports/login-attempts.ts';
import type { UsedCredential } from '../ports/webauthn.ts';
import type { Service } from '../service.ts';
import { factorsOf, useRecoveryCode, useStep } from '../storage/credentials.ts';
import type { Stores } from '../storage/records.ts';
import { invalidPasskey, usePasskey, verifyPasskey } from './passkeys.ts';

/** A factor that a request presents: a code of an authenticator app, a recovery code, or a passkey. */
export type PresentedFactor =
  | { readonly code: string }
  | { readonly recoveryCode: string }
  | { readonly credential: UsedCredential };

type FactorContext = { readonly user: User; readonly attempts: readonly Attempt[]; readonly origin: Origin };

/**
 * Verifies a factor of a user. `use` of the result uses the factor up, in a transaction that has locked the user; it also refuses a recovery code that
 * the user does not have. Only codes of apps can be guessed, so only they are limited: a user who has to wait can still present another factor.
 * @throws AppError AUTH_PASSKEY_INVALID, AUTH_SECOND_FACTOR_INVALID, CLIENT_REQUEST_RATE_LIMIT_EXCEEDED; DB_RECORD_NOT_FOUND for an unknown passkey
 */
export const verifyFactor = async (deps: Service, presented: PresentedFactor, context: FactorContext) => {
  if ('code' in presented) return verifyCode(deps, presented.code, context);
  if ('recoveryCode' in presented) return verifyRecoveryCode(deps, presented.recoveryCode, context);
  const verified = await verifyPasskey(deps, presented.credential);
  if (verified.passkey.userId !== context.user.id) throw invalidPasskey('the passkey of another user');
  return { method: verified.method, use: (stores: Stores) => usePasskey(deps, stores, verified, context) };
};

export const verifyFirstCode = async (deps: Service, presented: PresentedFactor, context: FactorContext) => {
  if (!('code' in presented)) throw invalidSecondFactor('the user has no factor');
  return verifyCode(deps, presented.code, context, (factor) => !isConfirmed(factor));
};

const verifyCode = async (deps: Service, code: string, { user, attempts }: FactorContext, accepts = isConfirmed) => {
  const apps = (await factorsOf(deps.records, user.id)).filter(accepts);
  return { method: 'totp' as const, use: await compareCode(deps, code, apps, attempts) };
};

/** Compares a code with those of apps. A code of the last used time step, or of an earlier one, is wrong. @returns a function that marks the step as used. */
export const compareCode = async (
  deps: Service,
  code: string,
  factors: readonly Factor[],
  attempts: readonly Attempt[],
) => {
  const attempt = await beginAttempt(deps.attempts, attempts);
  const found = factors
    .map((factor) => ({ factor, step: stepOf(deps, factor, code) }))
    .find(({ step }) => step !== null);
  if (found === undefined || found.step === null) throw invalidSecondFactor('the code is wrong, or was used');
  await deps.attempts.succeed(attempt);
  const { factor, step } = found;
  return async ({ records }: Stores) => {
    if (!(await useStep(records, factor, step, deps.clock.now()))) throw invalidSecondFactor('the code was used');
  };
};

const stepOf = ({ secrets, clock }: Service, { secret: encrypted, userId, lastStep }: Factor, code: string) => {
  const secret = secrets.factors?.decrypt(encrypted, userId) ?? null;
  if (secret === null) return null;
  const steps = acceptedSteps(clock.now()).filter((step) => step > lastStep);
  return steps.find((step) => secrets.oneTimePassword(secret, step) === code) ?? null;
};

const verifyRecoveryCode = async (deps: Service, typed: string, { user, origin }: FactorContext) => {
  const code = canonicalRecoveryCode(typed);
  if (code === null) throw invalidSecondFactor('no recovery code has this form');
  const hash = deps.secrets.hashOf(code);
  const use = async (stores: Stores): Promise<void> => {
    if (!(await useRecoveryCode(stores.records, user.id, hash)))
      throw invalidSecondFactor('the user has no such recovery code');
    await recordChange(deps, stores, { kind: 'recovery-code-used', user, origin });
  };
  return { method: 'recovery-code' as const, use };
};

import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { type Factor, isConfirmed } from '../../domain/second-factor.ts';
import { deviceCodeAttempt } from '../login/compare-password.ts';
import { recordChange } from '../notices.ts';
import type { FactorSecrets } from '../ports/secrets.ts';
import type { Service } from '../service.ts';
import { type Caller, type CallerWithToken, liveUser, lockedFactorOwner } from '../sessions/current-user.ts';
import { forgetDevices } from '../sessions/end-sessions.ts';
import { factorsOf, recoveryCodesOf, storeRecoveryCodes } from '../storage/credentials.ts';
import type { Records, Stores } from '../storage/records.ts';
import { changeRow, removeRow, rowsOf } from '../storage/rows.ts';
import { addApp, enrol, replaceCodes } from './enrol-app.ts';
import { raiseSession } from './step-up.ts';
import { compareCode } from './verify-factor.ts';

export const listFactors = (deps: Service) => async (caller: Caller) => {
  const { id } = await liveUser(deps, caller);
  const [factors, codes] = await Promise.all([factorsOf(deps.records, id), recoveryCodesOf(deps.records, id)]);
  return { apps: factors.filter(isConfirmed), recoveryCodes: codes.length };
};

export const startApp = (deps: Service, factorSecrets: FactorSecrets) => (caller: Caller) =>
  deps.transactions.run(async (stores) =>
    addApp(deps, stores, await lockedFactorOwner(deps, stores, caller), factorSecrets),
  );

type FirstCode = CallerWithToken & { readonly id: string; readonly code: string; readonly origin?: Origin };

/** Confirms an authenticator app by its first code, which also raises the session. @returns new recovery codes if the user had none, or else `[]`. */
export const confirmApp =
  (deps: Service) =>
  async ({ id, code, tokenIssuedAt, origin = NO_ORIGIN, ...caller }: FirstCode): Promise<string[]> => {
    const user = await liveUser(deps, caller);
    const factor = (await factorsOf(deps.records, user.id)).find((each) => each.id === id && !isConfirmed(each));
    if (factor === undefined) throw noSuchFactor();
    const use = await compareCode(deps, code, [factor], [deviceCodeAttempt(user, { ...caller, tokenIssuedAt })]);
    return deps.transactions.run(async (stores) => {
      const locked = await lockedFactorOwner(deps, stores, caller);
      await use(stores);
      const { sessionId } = caller;
      const key = { id: sessionId, userId: locked.id };
      await raiseSession(deps, stores, key, [{ method: 'totp', at: deps.clock.now() }], origin);
      return enrol(deps, stores, { user: locked, addedAppIds: [id], sessionId, origin });
    });
  };

export const makeRecoveryCodes =
  (deps: Service) =>
  (caller: Caller, origin: Origin = NO_ORIGIN): Promise<string[]> =>
    deps.transactions.run(async (stores) => {
      const user = await lockedFactorOwner(deps, stores, caller);
      if (user.secondFactorAt === null && (await recoveryCodesOf(stores.records, user.id)).length === 0)
        throw noSuchFactor();
      const codes = await replaceCodes(deps, stores, user.id);
      const [{ sessionId }, added] = [caller, await recoveryCodesOf(stores.records, user.id)];
      await recordChange(deps, stores, { kind: 'recovery-codes-made', user, sessionId, origin, added });
      return codes;
    });

/** Removes an authenticator app. With the last confirmed app, the recovery codes and the remembered devices go as well. */
export const removeApp =
  (deps: Service) =>
  (caller: Caller, id: string, origin: Origin = NO_ORIGIN): Promise<void> =>
    deps.transactions.run(async (stores) => {
      const user = await lockedFactorOwner(deps, stores, caller);
      const { id: userId } = user;
      const factors = await factorsOf(stores.records, userId);
      const removed = factors.find((factor) => factor.id === id);
      if (removed === undefined || (await removeRow(stores.records, 'factors', { id, userId })) === null)
        throw noSuchFactor();
      if (!isConfirmed(removed)) return;
      if (factors.filter(isConfirmed).length === 1) await endSecondFactor(deps, stores, userId, origin);
      const { sessionId } = caller;
      await recordChange(deps, stores, { kind: 'second-factor-removed', user, sessionId, origin, added: [] });
    });

const endSecondFactor = async (deps: Service, stores: Stores, userId: string, origin: Origin): Promise<void> => {
  await storeRecoveryCodes(stores.records, userId, []);
  await stores.users.update(userId, { secondFactorAt: null, now: deps.clock.now() });
  await forgetDevices(deps, stores, userId, { reason: 'ended-by-user', origin });
};

const noSuchFactor = (): AppError => new AppError('DB_RECORD_NOT_FOUND', { reason: 'the user has no such factor' });

type ReEncryptDeps = { readonly records: Records; readonly factorSecrets: FactorSecrets };

/** How many secrets were encrypted anew, how many had the current key before, and how many cannot be decrypted. */
type SecretCounts = { changed: number; current: number; undecryptable: number };

/** Encrypts the secrets of all factors with the current key. A secret that cannot be decrypted stays as it is. */
export const reEncryptFactors = (deps: ReEncryptDeps) => async (): Promise<Readonly<SecretCounts>> => {
  const counts: SecretCounts = { changed: 0, current: 0, undecryptable: 0 };
  for await (const factor of rowsOf(deps.records, 'factors')) {
    const outcome = await reEncrypt(deps, factor);
    if (outcome !== null) counts[outcome] += 1;
  }
  return counts;
};

/** @returns `null` for a factor that was removed, or whose secret was changed, meanwhile. */
const reEncrypt = async ({ records, factorSecrets }: ReEncryptDeps, { id, userId, secret: from }: Factor) => {
  if (factorSecrets.isCurrent(from)) return 'current';
  const secret = factorSecrets.decrypt(from, userId);
  if (secret === null) return 'undecryptable';
  const to = factorSecrets.encrypt(secret, userId);
  const changed = await changeRow(records, 'factors', { id, userId }, (row) =>
    row.secret === from ? { ...row, secret: to } : null,
  );
  return changed && 'changed';
};

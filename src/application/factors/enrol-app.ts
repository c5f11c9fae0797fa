import type { Origin } from '../../domain/event.ts';
import {
  AUTHENTICATOR_APPS_PER_USER,
  canonicalRecoveryCode,
  isConfirmed,
  RECOVERY_CODES,
  recoveryCodeFrom,
  secretFrom,
} from '../../domain/second-factor.ts';
import type { User } from '../../domain/user.ts';
import { invalidSecondFactor } from '../login/pending-login.ts';
import { recordChange } from '../notices.ts';
import type { FactorSecrets } from '../ports/secrets.ts';
import type { Service } from '../service.ts';
import { factorsOf, recoveryCodesOf, storeRecoveryCodes } from '../storage/credentials.ts';
import type { Stores } from '../storage/records.ts';
import { removeRow } from '../storage/rows.ts';

/** An authenticator app that waits for its first code. Its secret is returned only here, and stored encrypted. */
export type StartedApp = { readonly id: string; readonly secret: string; readonly username: string };

/** Adds an authenticator app, and removes one that waits for its first code, in a transaction that has locked the user. */
export const addApp = async (
  { ids, secrets, clock }: Service,
  stores: Stores,
  { id: userId, username }: User,
  factorSecrets: FactorSecrets,
): Promise<StartedApp> => {
  const factors = await factorsOf(stores.records, userId);
  for (const { id } of factors.filter((factor) => !isConfirmed(factor)))
    await removeRow(stores.records, 'factors', { id, userId });
  if (factors.filter(isConfirmed).length >= AUTHENTICATOR_APPS_PER_USER)
    throw invalidSecondFactor('the user has as many authenticator apps as there may be');
  const id = ids.next();
  const secret = secretFrom(secrets.random());
  const [encrypted, createdAt] = [factorSecrets.encrypt(secret, userId), clock.now()];
  await stores.records.insert('factors', { id, userId, secret: encrypted, lastStep: -1, createdAt, confirmedAt: null });
  return { id, secret, username };
};

type Enrolment = {
  /** The transaction has locked this user, and used up the first code of the app. */
  readonly user: User;
  readonly addedAppIds: readonly string[];
  readonly sessionId: string;
  readonly origin: Origin;
};

/** Records that the user has a second factor, and the added apps. @returns new recovery codes if the user had none, or else `[]`. */
export const enrol = async (deps: Service, stores: Stores, { user, addedAppIds, sessionId, origin }: Enrolment) => {
  const now = deps.clock.now();
  if (user.secondFactorAt === null) await stores.users.update(user.id, { secondFactorAt: now, now });
  const hasCodes = (await recoveryCodesOf(stores.records, user.id)).length > 0;
  const codes = hasCodes ? [] : await replaceCodes(deps, stores, user.id);
  const added = [...addedAppIds, ...(hasCodes ? [] : await recoveryCodesOf(stores.records, user.id))];
  await recordChange(deps, stores, { kind: 'second-factor-added', user, sessionId, origin, added });
  return codes;
};

/** Replaces the recovery codes of a user, in a transaction that has locked the user. @returns the new recovery codes. */
export const replaceCodes = async ({ secrets }: Service, { records }: Stores, userId: string): Promise<string[]> => {
  const codes = Array.from({ length: RECOVERY_CODES }, () => recoveryCodeFrom(secrets.random()));
  const hashes = codes.map((code) => secrets.hashOf(canonicalRecoveryCode(code) ?? code));
  await storeRecoveryCodes(records, userId, hashes);
  return codes;
};

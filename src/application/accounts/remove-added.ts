import type { Origin } from '../../domain/event.ts';
import { preferredLocale } from '../../domain/locale.ts';
import { isConfirmed } from '../../domain/second-factor.ts';
import type { User } from '../../domain/user.ts';
import type { Stores } from '../ports/transactions.ts';
import { type Ending, endSessionsOf } from '../sessions/end-sessions.ts';
import { type RecordDeps, record } from '../use-case.ts';
import { removeUndos, withdrawLinks } from './links.ts';

export type RemovedFactors = {
  readonly apps: number;
  readonly recoveryCodes: number;
  readonly passkeys: number;
};

type Removal = {
  /** Epoch milliseconds; 0: everything. */
  readonly since: number;
  readonly origin: Origin;
};

/**
 * Removes the passkeys and authenticator apps that were added to an account since a time, and the recovery codes that were made since. Without an app,
 * log-ins need no second factor any more. In a transaction that has locked the user. Every new kind of factor belongs here.
 */
export const removeFactors = async (
  deps: RecordDeps,
  stores: Stores,
  { id: userId, secondFactorAt }: User,
  { since, origin }: Removal,
): Promise<RemovedFactors> => {
  const passkeys = (await stores.passkeys.listByUser(userId)).filter(({ createdAt }) => createdAt >= since);
  const apps = await stores.factors.listByUser(userId);
  // The secret of an app that waits for its first code is known to the one who started it.
  const added = apps.filter(({ confirmedAt }) => confirmedAt === null || confirmedAt >= since);
  for (const each of passkeys) await stores.passkeys.remove(each);
  for (const each of added) await stores.factors.remove(each);
  const hasNone = added.length === apps.length;
  const recoveryCodes = hasNone || (await madeCodes(stores, userId, since)) ? await removeCodes(stores, userId) : 0;
  if (hasNone && secondFactorAt !== null)
    await stores.users.update(userId, { secondFactorAt: null, now: deps.clock.now() });
  const removed = { apps: added.filter(isConfirmed).length, recoveryCodes, passkeys: passkeys.length };
  await record(deps, stores, origin, [
    ...Array.from({ length: removed.apps }, () => ({ userId, kind: 'second-factor-removed' }) as const),
    ...Array.from({ length: removed.passkeys }, () => ({ userId, kind: 'passkey-removed' }) as const),
  ]);
  return removed;
};

/** Removes the identities that were linked to an account since a time. In a transaction that has locked the user. */
export const removeIdentities = async (
  deps: RecordDeps,
  stores: Pick<Stores, 'identities' | 'events'>,
  userId: string,
  { since, origin }: Removal,
): Promise<void> => {
  const linked = (await stores.identities.listByUser(userId)).filter(({ createdAt }) => createdAt >= since);
  for (const each of linked) await stores.identities.remove(each);
  await record(
    deps,
    stores,
    origin,
    linked.map(() => ({ userId, kind: 'identity-unlinked' })),
  );
};

/** Whether recovery codes may have been made since a time: with an app, or anew. */
const madeCodes = async ({ events }: Pick<Stores, 'events'>, userId: string, since: number): Promise<boolean> => {
  for (const kind of ['recovery-codes-made', 'second-factor-added'] as const)
    if ((await events.countSince(userId, kind, since)) > 0) return true;
  return false;
};

const removeCodes = async ({ factors }: Pick<Stores, 'factors'>, userId: string): Promise<number> => {
  const count = await factors.countCodes(userId);
  await factors.replaceCodes(userId, []);
  return count;
};

export type FirstProofDeps = RecordDeps & {
  readonly mailLocales?: readonly string[] | undefined;
};

type FirstProof = Ending & {
  readonly locales: readonly string[];
};

/**
 * Removes what was added to an account before its address was proven for the first time: anybody can register with it. Factors, identities,
 * sessions, remembered devices, the language and links go; the name, the password and what operators have stated stay. In a transaction that has
 * changed the user.
 */
export const removeAddedBeforeProof = async (
  deps: FirstProofDeps,
  stores: Stores,
  user: User,
  { locales, ...ending }: FirstProof,
): Promise<void> => {
  const { id: userId, email } = user;
  const removal = { since: 0, origin: ending.origin };
  await removeFactors(deps, stores, user, removal);
  await removeIdentities(deps, stores, userId, removal);
  const locale = preferredLocale(locales, deps.mailLocales ?? []);
  if (locale !== user.locale) {
    await stores.users.update(userId, { locale, now: deps.clock.now() });
    await record(deps, stores, ending.origin, [{ userId, kind: 'locale-changed' }]);
  }
  await withdrawLinks(stores, userId, ['email-verification', 'not-me', 'email-change']);
  await removeUndos(deps, stores, userId, (undo) => undo.email === email);
  await endSessionsOf(deps, stores, userId, ending);
};

import { type Origin, SESSION_ENDINGS } from '../../domain/event.ts';
import { LINK_PURPOSES } from '../../domain/link.ts';
import { isPasswordHash, NO_PASSWORD } from '../../domain/password.ts';
import { isConfirmed } from '../../domain/second-factor.ts';
import { preferredLocale } from '../../domain/text.ts';
import type { User } from '../../domain/user.ts';
import { type AccountAct, fateOf, type WayIn } from '../../domain/ways-in.ts';
import { blockIdentities } from '../linked-identities.ts';
import { removeUndos, withdrawLinks } from '../links.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import { type Core, enqueue, record, type Service, type Sources } from '../service.ts';
import { type EndOptions, endSessionsOf, forgetDevices } from '../sessions/end-sessions.ts';
import { assessTokens } from '../sessions/tokens.ts';
import { factorsOf, identitiesOf, passkeysOf, recoveryCodesOf, storeRecoveryCodes } from '../storage/credentials.ts';
import type { Stores } from '../storage/records.ts';
import { removeRow } from '../storage/rows.ts';

/** A stored passkey, app, identity or recovery code. The id of a recovery code is its hash, and it has no time. */
type StoredWay = { readonly id: string; readonly createdAt?: number };

type EndWaysOptions = Omit<EndOptions, 'reason'> & {
  /** Whether the password was shown, in the sense of `AddressProof`. Then it stays if its fate is `mine` (`src/domain/ways-in.ts`). */
  readonly isPasswordShown?: boolean;
  /** The hash of the new password, if the act ends the former one. Default: the user gets no password. */
  readonly passwordHash?: string;
  /** The id of the session of the request. Some acts keep this session. */
  readonly exceptId?: string;
  /** Whether a passkey, an app, a recovery code or an identity stays where the table says `since` or `block`. Default: none stays. */
  readonly keeps?: (way: StoredWay) => boolean;
};

type EndsWay = (way: WayIn, stored?: StoredWay) => boolean;

/**
 * Ends the stored ways into an account that an act ends by the table of the domain, in a transaction that has locked the user. The caller removes undo links
 * whose fate is `since`. Ways that clients keep, such as log-in codes and pending log-ins, are refused when they are used: they fit only the state of the
 * account for which they were made.
 */
export const endWays = async (
  deps: Core,
  stores: Stores,
  act: AccountAct,
  user: User,
  { isPasswordShown = false, passwordHash = NO_PASSWORD, keeps = () => false, exceptId, ...ending }: EndWaysOptions,
) => {
  const { id: userId } = user;
  const ends: EndsWay = (way, stored = { id: '' }) => {
    const fate = fateOf(way, act);
    return fate === 'ends' || fate === 'mine' || ((fate === 'since' || fate === 'block') && !keeps(stored));
  };
  if (ends('password') && !(isPasswordShown && fateOf('password', act) === 'mine'))
    await stores.users.setPasswordHash(userId, { passwordHash, isOfNewPassword: true, now: deps.clock.now() });
  const passkeys = (await passkeysOf(stores.records, userId)).filter((each) => ends('passkey', each));
  for (const { id } of passkeys) await removeRow(stores.records, 'passkeys', { id, userId });
  const factors = ends('app') ? await endFactors(deps, stores, user, ends) : { apps: 0, recoveryCodes: 0 };
  const identities = (await identitiesOf(stores.records, userId)).filter((each) => ends('identity', each));
  for (const { id } of identities) await removeRow(stores.records, 'identities', { id, userId });
  if (fateOf('identity', act) === 'block') await blockIdentities(deps, stores, userId, identities);
  await record(deps, stores, ending.origin, [
    ...Array.from({ length: factors.apps }, () => ({ userId, kind: 'second-factor-removed' }) as const),
    ...passkeys.map(() => ({ userId, kind: 'passkey-removed' }) as const),
    ...identities.map(() => ({ userId, kind: 'identity-unlinked' }) as const),
  ]);
  const purposes = LINK_PURPOSES.filter((purpose) => fateOf(purpose, act) === 'ends');
  await withdrawLinks(stores, userId, purposes);
  const sessionEnding = { ...ending, reason: SESSION_ENDINGS.find((each) => each === act) ?? 'operator' };
  const kept = fateOf('session', act) === 'mine' && exceptId !== undefined ? { exceptId } : {};
  const endedSessions = ends('session') ? await endSessionsOf(deps, stores, userId, { ...sessionEnding, ...kept }) : 0;
  if (ends('remembered-device')) await forgetDevices(deps, stores, userId, sessionEnding);
  return { endedSessions, ...factors, passkeys: passkeys.length };
};

/** Ends apps and recovery codes. If the user loses the last app, all recovery codes end, and the user counts as one without a second factor. */
const endFactors = async ({ clock }: Sources, { records, users }: Stores, user: User, ends: EndsWay) => {
  const { id: userId, secondFactorAt } = user;
  const all = await factorsOf(records, userId);
  // An app that waits for its first code always ends, since the person who began to add it knows its secret.
  const ended = all.filter((app) => ends('app', isConfirmed(app) ? app : undefined));
  for (const { id } of ended) await removeRow(records, 'factors', { id, userId });
  const losesSecondFactor = secondFactorAt !== null && ended.length === all.length;
  const codes = await recoveryCodesOf(records, userId);
  const left = losesSecondFactor ? [] : codes.filter((id) => !ends('recovery-code', { id }));
  if (left.length < codes.length) await storeRecoveryCodes(records, userId, left);
  if (losesSecondFactor) await users.update(userId, { secondFactorAt: null, now: clock.now() });
  return { apps: ended.filter(isConfirmed).length, recoveryCodes: codes.length - left.length };
};

type AddressProof = {
  readonly origin: Origin;
  /** The languages of the person who proves the address. */
  readonly locales: readonly string[];
  /** Whether the person has presented the password, sets a new one, or knows whose account it is, from a mail or as an operator. Default: false. */
  readonly isPasswordShown?: boolean;
  readonly verified?: readonly RefreshToken[];
};

/**
 * Marks the address of a user as proven, in a transaction that has locked the user. Anybody could register with it before, so the first proof ends ways in
 * (`endUnproven`), unless it comes from a session of the account: its user has both the account and the mailbox.
 * @returns the user as stored now.
 */
export const proveAddress = async (
  deps: Service,
  stores: Stores,
  user: User,
  { verified = [], ...proof }: AddressProof,
) => {
  const { id: userId, email: to } = user;
  const now = deps.clock.now();
  const proven = await stores.users.update(userId, { emailVerifiedAt: now, now }, { emailVerifiedAt: null });
  if (proven === null) return user;
  await record(deps, stores, proof.origin, [{ userId, kind: 'email-verified' }]);
  if (await hasSession(deps, stores, userId, verified)) return proven;
  await endUnproven(deps, stores, proven, proof);
  const losesPassword = proof.isPasswordShown !== true && isPasswordHash(user.passwordHash);
  if (losesPassword && deps.mailNotices?.has('password'))
    await enqueue(deps, stores, proof.origin, [{ kind: 'password-removed', userId, to }]);
  return (await stores.users.lock(userId)) ?? proven;
};

/** Whether one of the tokens is of a live session of the user, and was not reused. No proof of the device is needed, since the request proves the mailbox. */
const hasSession = async (deps: Service, { sessions }: Stores, userId: string, verified: readonly RefreshToken[]) => {
  const own = verified.filter(({ claims }) => claims.sub === userId);
  const assessed = await assessTokens({ ...deps, sessions, deviceBinding: 'off' }, own);
  return assessed.some(({ status }) => status !== 'ended' && status !== 'reused');
};

/** Ends ways in from before the first proof of the address, and sets the language anew. Imported apps stay, since they are no way in alone. */
export const endUnproven = async (
  deps: Core,
  stores: Stores,
  user: User,
  { origin, locales, isPasswordShown = false }: Omit<AddressProof, 'verified'>,
): Promise<void> => {
  const { id: userId, importedFactors } = user;
  const keeps = ({ id }: { readonly id: string }) => importedFactors?.includes(id) ?? false;
  await endWays(deps, stores, 'address-proven', user, { origin, isPasswordShown, keeps });
  await removeUndos(deps, stores, userId, ({ email }) => email === user.email);
  const locale = preferredLocale(locales, deps.mailLocales ?? []);
  if (locale === user.locale) return;
  await stores.users.update(userId, { locale, now: deps.clock.now() });
  await record(deps, stores, origin, [{ userId, kind: 'locale-changed' }]);
};

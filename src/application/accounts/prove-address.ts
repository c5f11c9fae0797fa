import type { Origin } from '../../domain/event.ts';
import { preferredLocale } from '../../domain/locale.ts';
import { isHash } from '../../domain/password.ts';
import type { User } from '../../domain/user.ts';
import { removeUndos } from '../links.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import { type Core, enqueue, record, type Service } from '../service.ts';
import { assessTokens } from '../sessions/tokens.ts';
import type { Stores } from '../storage/stores.ts';
import { endWays } from './end-ways.ts';

type Proof = {
  readonly origin: Origin;
  /** The languages of who proves it. */
  readonly locales: readonly string[];
  /** Whether who proves it has shown the password, sets another one, or was told in a mail whose account it is. Default: none of these. */
  readonly isPasswordShown?: boolean;
  /** The refresh tokens of the browser that proves it. */
  readonly verified?: readonly RefreshToken[];
};

/**
 * Marks the address of a user as proven, if it was not. Anybody can have registered with it before, so what was added to the account goes; not if the
 * proof comes from a session of the account, whose user then has both, the account and the mailbox. In a transaction that has locked the user.
 * @returns the user as stored now.
 */
export const proveAddress = async (
  deps: Service,
  stores: Stores,
  user: User,
  { verified = [], ...proof }: Proof,
): Promise<User> => {
  const { id: userId, email: to } = user;
  const now = deps.clock.now();
  const proven = await stores.users.update(userId, { emailVerifiedAt: now, now }, { emailVerifiedAt: null });
  if (proven === null) return user;
  await record(deps, stores, proof.origin, [{ userId, kind: 'email-verified' }]);
  if (await hasSession(deps, stores, userId, verified)) return proven;
  await endUnproven(deps, stores, proven, proof);
  const losesPassword = proof.isPasswordShown !== true && isHash(user.passwordHash);
  if (losesPassword && deps.notices?.has('password'))
    await enqueue(deps, stores, proof.origin, [{ kind: 'password-removed', userId, to }]);
  return (await stores.users.lock(userId)) ?? proven;
};

/** Whether one of the tokens is of a live session of the user. A key of its device need not be proven: the mailbox is proof enough. */
const hasSession = async (deps: Service, { sessions }: Stores, userId: string, verified: readonly RefreshToken[]) => {
  const own = verified.filter(({ claims }) => claims.sub === userId);
  const assessed = await assessTokens({ ...deps, sessions, deviceBinding: 'off' }, own);
  return assessed.some(({ status }) => status !== 'ended' && status !== 'reused');
};

/** Ends what was added to an account before its address was proven, with its language. Apps that were imported are its owner's: they let nobody in alone. */
export const endUnproven = async (
  deps: Core,
  stores: Stores,
  user: User,
  { origin, locales, isPasswordShown = false }: Omit<Proof, 'verified'>,
): Promise<void> => {
  const { id: userId, importedFactors } = user;
  const leaves = ({ id }: { readonly id: string }) => importedFactors?.includes(id) ?? false;
  await endWays(deps, stores, 'address-proven', user, { origin, isPasswordShown, leaves });
  await removeUndos(deps, stores, userId, ({ email }) => email === user.email);
  const locale = preferredLocale(locales, deps.mailLocales ?? []);
  if (locale === user.locale) return;
  await stores.users.update(userId, { locale, now: deps.clock.now() });
  await record(deps, stores, origin, [{ userId, kind: 'locale-changed' }]);
};

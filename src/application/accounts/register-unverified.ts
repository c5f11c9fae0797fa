import { AppError, duplicateUser } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { isPasswordHash, NO_PASSWORD } from '../../domain/password.ts';
import { isClaimable, isImported, type User } from '../../domain/user.ts';
import { removeUndos, wayIdsOf } from '../links.ts';
import { comparePassword, loginAttempts } from '../login/compare-password.ts';
import { enqueue, NEVER_CANCELLED, type Pause, record, type Service } from '../service.ts';
import { countEvents } from '../storage/events.ts';
import type { Stores } from '../storage/records.ts';
import { applicantOf, assertNotReserved, checkRegistration, isReserved, type RegisterInput } from './applicant.ts';
import { completeEmailChange } from './change-email.ts';

/** Milliseconds. The time that it takes to store a registration is padded to a multiple of this. */
const PADDING = 100;

type Registration = {
  readonly user: User;
  /** The unverified account with the same username and password, whose address may be mistyped; `null`: there is none. */
  readonly mistyped: User | null;
  readonly origin: Origin;
};

/**
 * Registers a user who cannot log in before the address is verified. Neither the response nor its time shows whether the address has an account (ADR 0010).
 * A second registration with the username and the password of an unverified account may correct its address.
 */
export const registerUnverified =
  (deps: Service) =>
  async (input: RegisterInput, cancellation = NEVER_CANCELLED): Promise<void> => {
    const { origin = NO_ORIGIN } = input;
    await checkRegistration(deps, input);
    const { user } = await applicantOf(deps, input);
    const mistyped = await mistypedAccount(deps, input);
    cancellation.throwIfAborted();
    await padResponseTime(deps.pause, PADDING, () => storeWithRetry(deps, { user, mistyped, origin }));
  };

/** Finds the account whose address may be mistyped, if the password is right. An account that cannot be corrected takes as long, and counts the attempt. */
const mistypedAccount = async (deps: Service, { username, password, networks }: RegisterInput) => {
  const found = username === undefined ? null : await deps.users.findByUsername(username);
  if (found === null || password === undefined) return null;
  const candidates = loginAttempts(found.username, found, { networks });
  const compared = isCorrectable(found) ? found : null;
  return (await comparePassword(deps, candidates, password, compared)) ? compared : null;
};

/** Whether the account is claimable, and its password was never changed: a later password may be somebody else's. */
const isCorrectable = (user: User): boolean => isClaimable(user) && user.passwordChangedAt === 0;

/** Whether an account is correctable, and has no way in of `wayIdsOf` and no live session. The transaction has locked the user. */
const isStillCorrectable = async ({ clock }: Service, stores: Stores, user: User | null): Promise<boolean> =>
  user !== null &&
  isCorrectable(user) &&
  (await wayIdsOf(stores, user.id, [])).length === 0 &&
  (await stores.sessions.listByUser(user.id, clock.now())).length === 0;

const storeWithRetry = (deps: Service, registration: Registration): Promise<void> =>
  storeUnverified(deps, registration).catch((error: unknown) => {
    if (error instanceof ConcurrentRegistration) return storeWithRetry(deps, registration);
    throw error;
  });

class ConcurrentRegistration extends Error {}

const storeUnverified = (deps: Service, { user, mistyped, origin }: Registration): Promise<void> =>
  deps.transactions.run(async (stores) => {
    const holder = await stores.users.findByUsername(user.username);
    const isMistyped = holder !== null && holder.id === mistyped?.id;
    const before = isMistyped ? await stores.users.lock(holder.id) : null;
    if (holder !== null && !(await isStillCorrectable(deps, stores, before))) throw duplicateUser('username');
    const owner = await stores.users.findByEmail(user.email);
    if (owner === null) await storeOrCorrect(deps, stores, { user, mistyped: before, origin });
    else if (owner.id !== before?.id) await notifyOwner(deps, stores, owner, origin);
    else await enqueue(deps, stores, origin, [{ kind: 'email-verification-request', userId: null, to: user.email }]);
  });

/** Stores the user, or gives the new address to the mistyped account, unless the address is reserved. */
const storeOrCorrect = async (deps: Service, stores: Stores, { user, mistyped, origin }: Registration) => {
  const { email, attributes, locale } = user;
  const { id: userId } = mistyped ?? user;
  if (await isReserved(deps, stores, { id: userId, email })) return;
  try {
    if (mistyped === null) await stores.users.add(user);
    else {
      const more = (await areAttributesOfHook(deps, stores, userId)) ? { attributes } : {};
      await stores.users.update(userId, { email, ...more, locale, now: deps.clock.now() });
    }
    await assertNotReserved(deps, stores, { id: userId, email });
  } catch (error) {
    throw error instanceof AppError && error.code === 'AUTH_USER_DUPLICATE' ? new ConcurrentRegistration() : error;
  }
  if (mistyped === null) await record(deps, stores, origin, [{ userId, kind: 'registered' }]);
  else await forgetMistypedAddress(deps, stores, mistyped, user, origin);
  await enqueue(deps, stores, origin, [{ kind: 'email-verification', userId, to: email }]);
};

/** Whether the attributes may come from the hook, which was asked about the mistyped address: no event says that an operator has changed them. */
const areAttributesOfHook = async ({ beforeRegister }: Service, stores: Stores, userId: string): Promise<boolean> =>
  beforeRegister !== undefined && (await countEvents(stores.records, userId, 'attributes-changed', 0)) === 0;

/** Withdraws the links to the mistyped address, and frees it at once, since nobody has proven it. */
const forgetMistypedAddress = async (deps: Service, stores: Stores, before: User, { email }: User, origin: Origin) => {
  await completeEmailChange(deps, stores, { before, user: { ...before, email }, origin, isUndoable: false });
  await removeUndos(deps, stores, before.id, (undo) => undo.email === before.email);
};

const MAILS_PER_DAY = 5;
const DAY = 86_400_000;

/**
 * Notifies the owner of an address that somebody tried to register with it, up to `MAILS_PER_DAY` times. If the address is unverified, either registration
 * may be the owner's, so the account loses its password, unless it was imported.
 */
const notifyOwner = async (deps: Service, stores: Stores, { id: userId, email }: User, origin: Origin) => {
  const now = deps.clock.now();
  const unverified = await stores.users.update(userId, { now }, { email, emailVerifiedAt: null });
  if (unverified !== null && !isImported(unverified) && isPasswordHash(unverified.passwordHash))
    await stores.users.setPasswordHash(userId, { passwordHash: NO_PASSWORD, isOfNewPassword: true, now });
  const earlier = await countEvents(stores.records, userId, 'registration-refused', now - DAY);
  if (earlier >= MAILS_PER_DAY) return;
  await record(deps, stores, origin, [{ userId, kind: 'registration-refused' }]);
  await enqueue(deps, stores, origin, [{ kind: 'address-taken', userId, to: email }]);
};

/** Hides the duration of work: the result comes after a multiple of `step` milliseconds. */
export const padResponseTime = async <Result>(pause: Pause, step: number, work: () => Promise<Result>) => {
  let isDone = false;
  const end = () => {
    isDone = true;
  };
  // The timer starts first, so that the synchronous part of the work does not delay it.
  const first = pause(step);
  const working = work();
  working.then(end, end);
  await first;
  while (!isDone) await pause(step);
  return working;
};

import { AppError, duplicateUser } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { newUser, type User } from '../../domain/user.ts';
import { NEVER_CANCELLED } from '../cancellation.ts';
import type { LinkTokens } from '../ports/link-tokens.ts';
import type { PasswordHasher } from '../ports/password-hasher.ts';
import type { Stores } from '../ports/unit-of-work.ts';
import { assertPasswordAllowed } from '../steps/assert-password-allowed.ts';
import { assertNotHeld, isHeld } from '../steps/held-addresses.ts';
import { record, tell } from '../steps/record.ts';
import type { RegisterDeps, RegisterInput } from './register.ts';

export type RegisterUnprovenDeps = RegisterDeps & { readonly linkTokens: LinkTokens; readonly pause: Pause };

/** Milliseconds: several times as long as a registration takes in the database. */
const STEP = 100;

type Registration = {
  readonly user: User;
  /** Of a password that nobody knows. */
  readonly unknownHash: string;
  readonly origin: Origin;
};

/**
 * Registers a user who cannot log in before the address is proven. The response does not tell whether the address has an account:
 * its owner is told by mail (ADR 0049). Each registration costs one hash, whatever others register at the same time, and the same time in
 * the database, since the statements differ.
 * @throws AppError AUTH_USER_DUPLICATE for the username alone, CLIENT_PARAMS_VALIDATION_FAILED
 */
export const registerUnproven = (deps: RegisterUnprovenDeps) => {
  const hashOfUnknown = unknownPassword(deps);
  return async (input: RegisterInput, cancellation = NEVER_CANCELLED): Promise<void> => {
    const { username, email, password, origin = NO_ORIGIN } = input;
    assertPasswordAllowed(deps, input, 'password');
    const unknownHash = await hashOfUnknown();
    const passwordHash = await deps.hasher.hash(password);
    cancellation.throwIfAborted();
    const user = newUser({ id: deps.ids.next(), username, email, passwordHash, now: deps.clock.now() });
    await inSteps(deps.pause, STEP, () => untilStored(deps, { user, unknownHash, origin }));
  };
};

/** Again as long as somebody else gets the username or the address at the same time. */
const untilStored = async (deps: RegisterUnprovenDeps, registration: Registration): Promise<void> => {
  try {
    await store(deps, registration);
  } catch (error) {
    if (!(error instanceof Overtaken)) throw error;
    await untilStored(deps, registration);
  }
};

/** The store has refused the user although nobody had the names a moment before. */
class Overtaken extends Error {}

const store = (deps: RegisterUnprovenDeps, { user, unknownHash, origin }: Registration): Promise<void> =>
  deps.unitOfWork.run(async (stores) => {
    if ((await stores.users.findByUsername(user.username)) !== null) throw duplicateUser('username');
    const holder = await stores.users.findByEmail(user.email);
    if (holder !== null) await tellHolder(deps, stores, { holder, unknownHash, origin });
    else if (!(await isHeld(deps, stores, user))) await add(deps, stores, user, origin);
  });

const add = async (deps: RegisterUnprovenDeps, stores: Stores, user: User, origin: Origin): Promise<void> => {
  try {
    await stores.users.add(user);
    await assertNotHeld(deps, stores, user);
  } catch (error) {
    throw error instanceof AppError && error.code === 'AUTH_USER_DUPLICATE' ? new Overtaken() : error;
  }
  await record(deps, stores, origin, [{ userId: user.id, kind: 'registered' }]);
  await tell(deps, stores, origin, [{ kind: 'email-verification', userId: user.id, to: user.email }]);
};

type Contest = Pick<Registration, 'unknownHash' | 'origin'> & { readonly holder: User };

/** How many mails about registrations an account gets in a period: each says the same. */
const MAILS_PER_PERIOD = 5;
/** Milliseconds. */
const PERIOD = 86_400_000;

/**
 * Tells the owner of an address that somebody has registered with it. If the address is not proven, two people may have registered
 * with it, and only one of them owns it: then no password that was chosen before opens the account, and the owner sets one by mail.
 */
const tellHolder = async (
  deps: RegisterUnprovenDeps,
  stores: Stores,
  { holder: { id: userId, email }, unknownHash: passwordHash, origin }: Contest,
): Promise<void> => {
  const now = deps.clock.now();
  const unproven = await stores.users.update(userId, { now }, { email, emailVerifiedAt: null });
  if (unproven !== null) {
    await stores.users.setPasswordHash(userId, { passwordHash, isOfNewPassword: true, now });
  }
  const earlier = await stores.events.countSince(userId, 'registration-refused', now - PERIOD);
  if (earlier >= MAILS_PER_PERIOD) return;
  await record(deps, stores, origin, [{ userId, kind: 'registration-refused' }]);
  await tell(deps, stores, origin, [{ kind: 'address-taken', userId, to: email }]);
};

/** Waits for a time in milliseconds. */
export type Pause = (time: number) => Promise<unknown>;

/**
 * Does work whose duration must not show what was done: the result comes after `step` milliseconds, which is longer than the work takes
 * nearly always, or else after several times as long.
 */
export const inSteps = async <Result>(pause: Pause, step: number, work: () => Promise<Result>): Promise<Result> => {
  let isDone = false;
  const end = () => {
    isDone = true;
  };
  // Begins first, so that it does not end later by what the work does before it waits.
  const first = pause(step);
  const working = work();
  working.then(end, end);
  await first;
  while (!isDone) await pause(step);
  return working;
};

type UnknownPasswordDeps = { readonly hasher: PasswordHasher; readonly linkTokens: LinkTokens };

/** @returns a function that returns the hash of a password which nobody knows. The first call computes it. */
const unknownPassword = ({ hasher, linkTokens }: UnknownPasswordDeps): (() => Promise<string>) => {
  let computed: Promise<string> | undefined;
  return () => {
    computed ??= hasher.hash(linkTokens.next()).catch((error: unknown) => {
      computed = undefined;
      throw error;
    });
    return computed;
  };
};

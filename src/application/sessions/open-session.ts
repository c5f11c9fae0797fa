import {
  type Authenticated,
  type Authentications,
  authenticatedBy,
  lacksSecondFactor,
  loginMethodOf,
  type SecondFactorPolicy,
} from '../../domain/assurance.ts';
import { type Binding, bindingOf, type DeviceKeys } from '../../domain/device.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { newEvent, type Origin } from '../../domain/event.ts';
import { newSession, type Session, type SessionKey } from '../../domain/session.ts';
import { mayHaveTokens } from '../../domain/tokens.ts';
import { type PublicUser, publicUser, type User } from '../../domain/user.ts';
import { loginNotice } from '../notices.ts';
import { type Cancellation, record, type Service, type Sources } from '../service.ts';
import { toRow } from '../storage/events.ts';
import type { Stores, Transactions } from '../storage/records.ts';
import { inOrder } from '../storage/rows.ts';
import { endSession, isRemembered, sessionEvents } from './end-sessions.ts';
import { type HookClaims, issueTokenPair, refusedTokens, type TokenPair } from './tokens.ts';

export type OpenedSession = TokenPair & {
  readonly user: PublicUser;
  readonly sessionId: string;
  readonly binding: Binding;
  /** A text for the cookie of a remembered device. */
  readonly rememberedDevice?: string | null;
};

export type PreparedSession = { readonly session: Session; readonly opened: OpenedSession };

type NewSession = { readonly user: User; readonly origin: Origin; readonly keys: DeviceKeys; readonly id?: string };

/** Makes a session with its first token pair. The authentications are those of this request, or of another session. */
export const prepareSession = (
  deps: Service,
  { authentications, ...input }: NewSession & { readonly authentications: Authentications | Authenticated },
): Promise<PreparedSession> => {
  const authenticated = 'amr' in authentications ? authentications : authenticatedBy(authentications);
  return prepareWithHook(deps, input, authenticated, (session) => deps.claims?.(input.user, session));
};

const prepareWithHook = async (
  deps: Service,
  { user, origin, keys, id = deps.ids.next() }: NewSession,
  authenticated: Authenticated,
  askHook: (session: Session) => HookClaims | Promise<HookClaims>,
): Promise<PreparedSession> => {
  const { ids, clock, jwtRefreshExpiresIn, sessionMaxLifetime } = deps;
  const now = clock.now();
  const untilLimit =
    sessionMaxLifetime === null ? jwtRefreshExpiresIn : authenticated.authenticatedAt + sessionMaxLifetime - now;
  const session = newSession({
    id,
    userId: user.id,
    tokenId: ids.next(),
    now,
    lifetime: Math.min(jwtRefreshExpiresIn, untilLimit),
    device: { userAgent: origin.userAgent, address: origin.address },
    keys,
    authenticated,
  });
  const pair = await issueTokenPair(deps, user, session, now, await askHook(session));
  return { session, opened: { ...pair, user: publicUser(user), sessionId: session.id, binding: bindingOf(keys) } };
};

type OpeningEvent = {
  readonly kind: 'registered' | 'logged-in' | 'session-opened';
  /** The user as stored in this transaction. */
  readonly user: User;
  readonly origin: Origin;
  readonly rememberedDeviceId?: string | null;
};

/**
 * Stores a session in a transaction, with the events of its opening and of the sessions that it evicts. Sessions are opened only here and by `storeAtOnce`,
 * which check the second factor, so that no way in can skip it.
 * @throws AppError AUTH_FAILED when the user may not have tokens; AUTH_SECOND_FACTOR_REQUIRED when the second factor is missing.
 */
export const storeSession = async (
  deps: Sources & SecondFactorPolicy,
  stores: Stores,
  session: Session,
  { kind, user, origin, rememberedDeviceId: deviceId = null }: OpeningEvent,
): Promise<void> => {
  // The user is checked again, since the tokens were signed before the user was locked.
  if (!mayHaveTokens(user)) throw refusedTokens();
  const isExempt = deviceId !== null && (await isRemembered(deps, stores.records, user, deviceId));
  if (lacksSecondFactor(deps, user, session) && !isExempt) throw new AppError('AUTH_SECOND_FACTOR_REQUIRED');
  const { id: sessionId, userId } = session;
  const opened = { userId, kind, sessionId, method: kind === 'logged-in' ? loginMethodOf(session.amr) : null };
  const [evicted] = await inOrder(
    stores.records,
    () => stores.sessions.add(session),
    () => record(deps, stores, origin, [opened]),
  );
  if (evicted.length > 0) await record(deps, stores, origin, sessionEvents(userId, evicted, 'evicted'));
};

/** Stores the session and the event of a log-in in one statement, if the store can and nothing else has to be done (`addLogin`). */
export const storeAtOnce = async (
  deps: Service,
  session: Session,
  { user, origin }: Pick<NewSession, 'user' | 'origin'>,
): Promise<boolean> => {
  const { sessions, clock, ids, tell } = deps;
  if (sessions.addLogin === undefined || lacksSecondFactor(deps, user, session)) return false;
  const { id: sessionId, userId, amr } = session;
  const login = { userId, kind: 'logged-in', sessionId, method: loginMethodOf(amr) } as const;
  const event = newEvent(login, { id: ids.next(), at: clock.now(), origin });
  const isStored = await sessions.addLogin({ user, session, event: toRow(deps, event), notice: loginNotice(deps) });
  if (isStored) tell(({ onEvents }) => onEvents?.([event]));
  return isStored;
};

type SessionReplacement = {
  /** The user as stored in this transaction, for the claims of the access token. */
  readonly user: User;
  readonly sessionId: string;
  readonly origin: Origin;
  readonly authentications?: Authentications;
  /** The answer of the hook for the former session (`hookClaimsFor`). */
  readonly hookClaims: HookClaims;
};

/**
 * Replaces the session of a request by a new one, in the transaction of a change, so that copies of its refresh tokens become useless. The new session has
 * the keys and the authentication of the former one, and the `authentications` of the request.
 * @throws AppError AUTH_TOKEN_INVALID when the former session has ended; AUTH_STEP_UP_REQUIRED when a second factor is missing; AUTH_FAILED as `storeSession`.
 */
export const replaceSession = async (
  deps: Service,
  stores: Stores,
  { user, sessionId, origin, authentications, hookClaims }: SessionReplacement,
): Promise<OpenedSession> => {
  const key = { id: sessionId, userId: user.id };
  const former = await stores.sessions.find(key);
  if (former === null || !(await endSession(deps, stores, key, { reason: 'replaced', origin })))
    throw new AppError('AUTH_TOKEN_INVALID', { reason: 'the session has ended' });
  const { deviceKey, browserKey, proofs } = former;
  const keys = { deviceKey, browserKey, proofs };
  const authenticated = authentications === undefined ? former : authenticatedBy(authentications, former);
  if (lacksSecondFactor(deps, user, authenticated))
    throw new AppError('AUTH_STEP_UP_REQUIRED', { stepUp: { acr: 'aal2' } });
  const { session, opened } = await prepareWithHook(deps, { user, origin, keys }, authenticated, () => hookClaims);
  await storeSession(deps, stores, session, { kind: 'session-opened', user, origin });
  return opened;
};

/** How many times the new session is looked for, and the milliseconds in between. */
const [MAX_LOOKS, PAUSE] = [80, 250];

/**
 * Runs a change that may replace the session of the request. If the answer to the commit is lost, it looks for the new session: the client could
 * not repeat the request, since the former session has ended (ADR 0003).
 */
export const runReplacing = async <Opened extends OpenedSession | null>(
  { transactions, pause }: Service,
  userId: string,
  cancellation: Cancellation,
  work: (stores: Stores) => Promise<Opened>,
): Promise<Opened> => {
  let opened: Opened | undefined;
  try {
    return await transactions.run(async (stores) => {
      opened = await work(stores);
      return opened;
    });
  } catch (error) {
    let isKept: boolean | null = null;
    for (let looks = 0; opened && isKept === null && looks < MAX_LOOKS; looks += 1) {
      if (looks > 0) await pause(PAUSE);
      cancellation.throwIfAborted();
      isKept = await isStored(transactions, { id: opened.sessionId, userId }).catch(() => null);
    }
    if (opened && isKept) return opened;
    throw error;
  }
};

/** Whether the new session is stored. It first waits for the transaction that stores it: that one has locked the user, and may still be committed. */
const isStored = (transactions: Transactions, key: SessionKey): Promise<boolean> =>
  transactions.run(async ({ users, sessions }) => {
    await users.lock(key.userId);
    return (await sessions.find(key)) !== null;
  });

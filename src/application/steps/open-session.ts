import { type DeviceKeys, type DeviceProof, NO_KEYS } from '../../domain/device-binding.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { Origin } from '../../domain/event.ts';
import { newSession, type Session } from '../../domain/session.ts';
import { accessClaims, refreshClaims } from '../../domain/tokens.ts';
import { type PublicUser, publicUser, type User } from '../../domain/user.ts';
import type { IdGenerator } from '../ports/id-generator.ts';
import type { TokenSigner } from '../ports/token-signer.ts';
import type { Stores } from '../ports/unit-of-work.ts';
import { endSession } from './end-sessions.ts';
import { endings, type RecordDeps, record } from './record.ts';

export type PrepareSessionDeps = {
  readonly tokens: TokenSigner;
  readonly ids: IdGenerator;
  /** Milliseconds. */
  readonly accessLifetime: number;
  /** Milliseconds. */
  readonly refreshLifetime: number;
};

export type OpenedSession = TokenPair & { readonly user: PublicUser; readonly sessionId: string };

/** A session that is not stored yet, and the result of the log-in. */
export type PreparedSession = { readonly session: Session; readonly opened: OpenedSession };

/** The keys of a session that is opened with a proof. */
export const keysOf = (proof: DeviceProof | null): DeviceKeys =>
  proof === null ? NO_KEYS : { ...NO_KEYS, deviceKey: proof.key, proofs: [proof.number] };

type NewSession = {
  readonly user: User;
  readonly now: number;
  readonly origin: Origin;
  /** The keys of its device. */
  readonly keys: DeviceKeys;
};

/** Makes a session with its first token pair. */
export const prepareSession = async (
  deps: PrepareSessionDeps,
  { user, now, origin, keys }: NewSession,
): Promise<PreparedSession> => {
  const { ids, refreshLifetime: lifetime } = deps;
  const device = { userAgent: origin.userAgent, address: origin.address };
  const session = newSession({ id: ids.next(), userId: user.id, tokenId: ids.next(), now, lifetime, device, keys });
  const pair = await issueTokenPair(deps, user, session, now);
  return { session, opened: { ...pair, user: publicUser(user), sessionId: session.id } };
};

/** Stores a session in a unit of work, with the events of its opening and of the sessions that it evicted. */
export const storeSession = async (
  deps: RecordDeps,
  stores: Pick<Stores, 'sessions' | 'events'>,
  { id, userId, ...session }: Session,
  { kind, origin }: { readonly kind: 'registered' | 'logged-in' | 'session-opened'; readonly origin: Origin },
): Promise<void> => {
  const evicted = await stores.sessions.add({ id, userId, ...session });
  await record(deps, stores, origin, [{ userId, kind, sessionId: id }, ...endings(userId, evicted, 'evicted')]);
};

type SessionReplacement = {
  /** As stored in this unit of work, for the claims of the access token. */
  readonly user: User;
  /** The session of the request. */
  readonly sessionId: string;
  readonly origin: Origin;
};

/**
 * Opens a session in place of that of the request, in the unit of work of the request's change: a copy of a token of the former session
 * becomes useless. The device keeps its keys.
 * @throws AppError AUTH_TOKEN_INVALID when the former session has ended.
 */
export const replaceSession = async (
  deps: PrepareSessionDeps & RecordDeps,
  stores: Pick<Stores, 'sessions' | 'events'>,
  { user, sessionId, origin }: SessionReplacement,
): Promise<TokenPair> => {
  const key = { id: sessionId, userId: user.id };
  const former = await stores.sessions.find(key);
  if (former === null || !(await endSession(deps, stores, key, { reason: 'replaced', origin })))
    throw new AppError('AUTH_TOKEN_INVALID', { reason: 'the session has ended' });
  const { deviceKey, browserKey, proofs } = former;
  const keys = { deviceKey, browserKey, proofs };
  const { session, opened } = await prepareSession(deps, { user, now: deps.clock.now(), origin, keys });
  await storeSession(deps, stores, session, { kind: 'session-opened', origin });
  return { accessToken: opened.accessToken, refreshToken: opened.refreshToken };
};

export type TokenPair = { readonly accessToken: string; readonly refreshToken: string };

type IssueTokenPairDeps = {
  readonly tokens: TokenSigner;
  readonly ids: IdGenerator;
  /** Milliseconds. */
  readonly accessLifetime: number;
};

/** The parts of a session that its refresh token contains. */
type CurrentToken = Pick<Session, 'id' | 'userId' | 'currentTokenId' | 'rotation' | 'rotatedAt' | 'expiresAt'>;

/** Signs a new access token, and the session's current refresh token. */
export const issueTokenPair = async (
  { tokens, ids, accessLifetime }: IssueTokenPairDeps,
  user: User,
  session: CurrentToken,
  now: number,
): Promise<TokenPair> => {
  const [accessToken, refreshToken] = await Promise.all([
    tokens.signAccess({
      claims: accessClaims({ user, tokenId: ids.next(), now, lifetime: accessLifetime }),
      sessionId: session.id,
    }),
    tokens.signRefresh({ claims: refreshClaims(session), sessionId: session.id, rotation: session.rotation }),
  ]);
  return { accessToken, refreshToken };
};

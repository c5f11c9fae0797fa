import { isSameDevice, noEvidence } from '../../domain/device.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { type Session, wasRotatedWithin } from '../../domain/session.ts';
import { isRefreshable, mayHaveTokens } from '../../domain/tokens.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import type { Service } from '../service.ts';
import { deviceUnproven, evidenceOf, NOTHING_PRESENTED, type PresentedDevice } from './prove-device.ts';
import { authFailed, endReused, LostRace, type RefreshOptions, refresh } from './refresh.ts';
import {
  type AssessedToken,
  assessTokens,
  hasUnproven,
  hookClaimsFor,
  issueAccessToken,
  mostFavorable,
  type TokenPair,
  verifiedTokens,
} from './tokens.ts';

export type Continuation =
  | ({ readonly next: 'target' } & TokenPair)
  /** Another request has just renewed the session. If its response has yet to arrive, there is no access token. */
  | { readonly next: 'target'; readonly accessToken: string | null; readonly refreshToken: null }
  /** A page of the service, at which the browser proves the key of its session. */
  | { readonly next: 'proof' }
  | { readonly next: 'login' };

/** Renews, if needed, the session of a browser that navigates to a page which a server renders (ADR 0023). */
export const continueNavigation = (deps: Service) => {
  const renew = refresh(deps);
  return async (refreshTokens: readonly string[], options: RefreshOptions = {}): Promise<Continuation> => {
    const tokens = await assessPresented(deps, refreshTokens, options);
    // Otherwise the refresh below would record an attempt without a proof, or renew another session whose token the browser sends.
    if (hasUnproven(tokens)) return { next: 'proof' };
    const best = tokens.length === 0 ? null : mostFavorable(tokens);
    // If the request has several tokens, one may be a reused token of another session, which the refresh below ends.
    const fresh = refreshTokens.length > 1 ? null : best && (await accessTokenIfFresh(deps, best));
    if (fresh !== null) return { next: 'target', accessToken: fresh, refreshToken: null };
    try {
      return { next: 'target', ...(await renew(refreshTokens, options)) };
    } catch (error) {
      if (error instanceof LostRace) return { next: 'target', accessToken: null, refreshToken: null };
      if (error instanceof AppError && error.code === 'AUTH_FAILED') return { next: 'login' };
      if (error instanceof AppError && error.code === 'AUTH_DEVICE_UNPROVEN') return { next: 'proof' };
      throw error;
    }
  };
};

const assessPresented = async (
  deps: Service,
  refreshTokens: readonly string[],
  { presented = NOTHING_PRESENTED }: RefreshOptions,
): Promise<readonly AssessedToken[]> => {
  const verified = await verifiedTokens(deps, refreshTokens);
  const { browserKey } = (await evidenceOf(deps, presented, verified)).evidence;
  const required = deps.deviceBinding !== 'off';
  return assessTokens(deps, verified, { required, proof: null, browserKey });
};

/** An access token for a refresh token that another request has just got by rotation; `null` if the refresh token has to be rotated or refused. */
const accessTokenIfFresh = async (deps: Service, { session, status }: AssessedToken): Promise<string | null> => {
  const now = deps.clock.now();
  if (status !== 'current' || session === null || !wasRotatedWithin(session, deps.jwtRefreshRaceWindow, now))
    return null;
  const user = await deps.users.findById(session.userId);
  return mayHaveTokens(user) ? issueAccessToken(deps, user, session, now, await hookClaimsFor(deps, session)) : null;
};

/** The session for which the request gets an access token. A reused token ends its session, as at a refresh (ADR 0002). */
const sessionFor = async (deps: Service, assessed: readonly AssessedToken[], origin: Origin) => {
  await endReused(deps, assessed, origin);
  if (assessed.length === 0) throw authFailed('no refresh token verifies');
  const { session, status } = mostFavorable(assessed);
  if (hasUnproven(assessed)) throw deviceUnproven('the session has a key of its device');
  // While the page loads, the browser may have rotated the token.
  if (session !== null && (isRefreshable(status) || status === 'raced')) return session;
  throw authFailed(`the token is not current: ${status}`);
};

const tokenFor = async (deps: Service, session: Session): Promise<string> => {
  const user = await deps.users.findById(session.userId);
  return issueAccessToken(deps, user, session, deps.clock.now(), await hookClaimsFor(deps, session));
};

/** An access token for a server that renders a page, and presents the refresh tokens of its visitor (ADR 0023). They are not rotated. */
export const mintAccessToken =
  (deps: Service) =>
  async (refreshTokens: readonly string[], origin = NO_ORIGIN): Promise<string> => {
    const assessed = await assessTokens(deps, await verifiedTokens(deps, refreshTokens));
    return tokenFor(deps, await sessionFor(deps, assessed, origin));
  };

/** How a visitor proves possession of the session's key: by a bound cookie of the browser, or by a proof that a page has sent some minutes ago. */
type VisitorProof = {
  readonly presented: PresentedDevice;
  readonly provenSessions: readonly string[];
  readonly origin: Origin;
};

/** An access token for a page of the service itself (ADR 0024). As a refresh does, it records the device that has used the session. */
export const identifyVisitor =
  (deps: Service) =>
  async (refreshTokens: readonly string[], { presented, provenSessions, origin }: VisitorProof): Promise<string> => {
    const verified = await verifiedTokens(deps, refreshTokens);
    const { evidence } = await evidenceOf(deps, presented, verified);
    const isProven = (token: RefreshToken) => provenSessions.includes(token.sessionId);
    const [proven, others] = [verified.filter(isProven), verified.filter((token) => !isProven(token))];
    const assessed = await Promise.all([
      assessTokens(deps, proven, noEvidence('off')),
      assessTokens(deps, others, evidence),
    ]);
    const session = await sessionFor(deps, assessed.flat(), origin);
    const { userAgent, address } = origin;
    if (!isSameDevice(session, origin)) await deps.sessions.update(session, { userAgent, address });
    // The hook is not asked, since no response contains this token.
    return tokenFor({ ...deps, claims: undefined }, session);
  };

import { type Authenticated, type Authentications, authenticatedBy } from '../../domain/assurance.ts';
import type { Attributes } from '../../domain/attributes.ts';
import { type Evidence, noEvidence, strongestMatch } from '../../domain/device.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import type { Session, SessionKey } from '../../domain/session.ts';
import {
  type AccessClaims,
  accessClaims,
  byFavor,
  mayHaveTokens,
  refreshClaims,
  type TokenStatus,
  tokenStatus,
} from '../../domain/tokens.ts';
import type { User, UserInTokens } from '../../domain/user.ts';
import type { RefreshToken } from '../ports/token-signer.ts';
import type { Service } from '../service.ts';

export type AssessedToken = {
  readonly token: RefreshToken;
  readonly session: Session | null;
  readonly status: TokenStatus;
  readonly matchedBy: ReturnType<typeof strongestMatch>;
};

/** Determines the status of each token by its session. @param evidence Default: the request proves no device. */
export const assessTokens = (
  deps: Service,
  verified: readonly RefreshToken[],
  evidence: Evidence = noEvidence(deps.deviceBinding),
): Promise<readonly AssessedToken[]> =>
  Promise.all(
    verified.map(async (token) => {
      const session = await deps.sessions.find({ id: token.sessionId, userId: token.claims.sub });
      const status = tokenStatus(session, token, { now: deps.clock.now(), policy: deps, evidence });
      const matchedBy = session === null || status === 'ended' ? 'token' : strongestMatch(session, evidence);
      return { token, session, status, matchedBy };
    }),
  );

const MATCH_RANKS: Readonly<Record<AssessedToken['matchedBy'], number>> = { signature: 0, bound: 1, token: 2 };

/** The token that decides the response: one of the session whose key the request shows (`strongestMatch`), or else the one with the best status (ADR 0002). */
export const mostFavorable = (assessed: readonly AssessedToken[]): AssessedToken => {
  const [first] = assessed.toSorted(
    (a, b) => MATCH_RANKS[a.matchedBy] - MATCH_RANKS[b.matchedBy] || byFavor(a.status, b.status),
  );
  if (first === undefined) throw new RangeError('There is no token to choose from.');
  return first;
};

/** Whether a token is of a session with a key that the request does not prove. */
export const hasUnproven = (assessed: readonly AssessedToken[]) => assessed.some(({ status }) => status === 'unproven');

/** The sessions of reused tokens, unless the request has a better token of the same session (ADR 0002). */
export const reusedSessions = (assessed: readonly AssessedToken[]): readonly Session[] => {
  const sessions = new Map<string, Session>();
  for (const { session, status } of assessed)
    if (session !== null && status === 'reused') sessions.set(session.id, session);
  for (const { token, status } of assessed) if (byFavor(status, 'reused') < 0) sessions.delete(token.sessionId);
  return [...sessions.values()];
};

/** The refresh tokens that verify. A browser may send several cookies of the same name. */
export const verifiedTokens = async ({ tokens, clock }: Service, refreshTokens: readonly string[]) => {
  const now = clock.now();
  const verified = await Promise.all(refreshTokens.map((text) => tokens.verifyRefresh(text, now)));
  return verified.flatMap((outcome) => (outcome.ok ? [outcome.token] : []));
};

/** The answer of the hook `claims`. `undefined`: there is no hook; `null`: it was not asked, since the session has ended. */
export type HookClaims = Attributes | null | undefined;

/** Asks the hook for the claims of a session's next token, outside of a transaction, which would wait for it. @param change what a transaction will change. */
export const hookClaimsFor = async (
  { claims, sessions }: Service,
  { id, userId }: SessionKey,
  { authentications, ...change }: Partial<User> & { readonly authentications?: Authentications } = {},
): Promise<HookClaims> => {
  if (claims === undefined) return undefined;
  const { user, session } = (await sessions.findWithUser({ id, userId })) ?? { session: null };
  if (session === null) return null;
  const authenticated = authentications === undefined ? session : authenticatedBy(authentications, session);
  return claims({ ...user, ...change }, { ...authenticated, id });
};

export type IssuedAccess = {
  readonly accessToken: string;
  /** A token for the access cookie that is bound to no key, since a navigation has no proof. Set only if `accessToken` is bound to a key. */
  readonly cookieToken?: string;
};
export type TokenPair = IssuedAccess & { readonly refreshToken: string };

type TokenSession = Pick<Session, 'id' | 'deviceKey' | 'expiresAt'> & Authenticated;
type CurrentToken = TokenSession & Pick<Session, 'userId' | 'currentTokenId' | 'rotation' | 'rotatedAt'>;

export const refusedTokens = (): AppError =>
  new AppError('AUTH_FAILED', { reason: 'the user does not exist, or is disabled' });

/** Signs a new access token, and the session's current refresh token. @throws AppError AUTH_FAILED as `issueAccessToken`. */
export const issueTokenPair = async (
  deps: Service,
  user: UserInTokens | null,
  session: CurrentToken,
  now: number,
  hookClaims: HookClaims,
): Promise<TokenPair> => {
  const [access, refreshToken] = await Promise.all([
    issueAccess(deps, user, session, now, hookClaims),
    deps.tokens.signRefresh({ claims: refreshClaims(session), sessionId: session.id, rotation: session.rotation }),
  ]);
  return { ...access, refreshToken };
};

/** Signs an access token, with `jwtBinding` bound to the device key of the session, if there is one. @throws AppError AUTH_FAILED as `issueAccessToken`. */
export const issueAccess = async (
  deps: Service,
  user: UserInTokens | null,
  session: TokenSession,
  now: number,
  hookClaims: HookClaims,
): Promise<IssuedAccess> => {
  const unbound = () => issueAccessToken(deps, user, session, now, hookClaims);
  if (!deps.jwtBinding || session.deviceKey === null) return { accessToken: await unbound() };
  const accessToken = await issueAccessToken(deps, user, session, now, hookClaims, { jkt: session.deviceKey });
  return deps.accessCookie == null ? { accessToken } : { accessToken, cookieToken: await unbound() };
};

/** Signs an access token that expires with its session at the latest. @throws AppError AUTH_FAILED if the user may not have tokens, or `hookClaims` is null. */
export const issueAccessToken = async (
  { tokens, ids, jwtAccessExpiresIn, jwtAuthenticationClaims, jwtSessionClaim = false }: Service,
  user: UserInTokens | null,
  session: Pick<Session, 'id' | 'expiresAt'> & Authenticated,
  now: number,
  hookClaims: HookClaims,
  cnf?: AccessClaims['cnf'],
): Promise<string> => {
  if (!mayHaveTokens(user) || hookClaims === null) throw refusedTokens();
  const claimedUser = hookClaims === undefined ? user : { ...user, attributes: hookClaims };
  const authenticated = jwtAuthenticationClaims ? session : null;
  const lifetime = Math.min(jwtAccessExpiresIn, session.expiresAt - now);
  const claims = accessClaims({ user: claimedUser, tokenId: ids.next(), now, lifetime, authenticated });
  return tokens.signAccess({
    claims: { ...claims, ...(jwtSessionClaim && { sid: session.id }), ...(cnf && { cnf }) },
    sessionId: session.id,
  });
};

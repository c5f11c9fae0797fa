import { AppError } from '../../domain/errors/app-error.ts';
import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { isConfirmed } from '../../domain/factor.ts';
import { NEVER_CANCELLED } from '../cancellation.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';
import type { UserRepository } from '../ports/user-repository.ts';
import type { Report } from '../reports.ts';
import { verifiedTokens } from '../steps/assess-tokens.ts';
import { codeAttempts } from '../steps/compare-password.ts';
import type { EndPresentedDeps } from '../steps/end-sessions.ts';
import { keysOf, type OpenedSession, type PrepareSessionDeps, prepareSession } from '../steps/open-session.ts';
import { assertSamePassword, openPendingLogin, usePendingLogin } from '../steps/pending-login.ts';
import { NOTHING_PRESENTED, type Presented, type ProveDeviceDeps, provenDevice } from '../steps/prove-device.ts';
import { type PresentedFactor, type ShowFactorDeps, showFactor } from '../steps/show-factor.ts';
import { assertMayLogIn, type MayLogInDeps, storeLogin } from '../steps/store-login.ts';
import { type NewChallenge, newChallenge } from '../steps/use-passkey.ts';

export type FinishLoginDeps = ShowFactorDeps &
  EndPresentedDeps &
  ProveDeviceDeps &
  PrepareSessionDeps &
  MayLogInDeps & {
    readonly users: UserRepository;
    readonly unitOfWork: UnitOfWork;
    readonly report?: Report;
  };

type SecondFactorMethod = 'totp' | 'recovery-code' | 'passkey';

type ShownPendingLogin = {
  /** Those that the user can show. */
  readonly methods: SecondFactorMethod[];
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** For a passkey; `null` if the user has none. */
  readonly challenge: NewChallenge | null;
};

/**
 * What a pending log-in waits for.
 * @param pendingLogins as the browser presents them.
 * @throws AppError AUTH_SECOND_FACTOR_INVALID when no log-in is pending.
 */
export const showPendingLogin =
  (deps: FinishLoginDeps) =>
  async (pendingLogins: readonly string[]): Promise<ShownPendingLogin> => {
    const { pending, user } = await openPendingLogin(deps, pendingLogins);
    const [factors, codes, passkeys] = await Promise.all([
      deps.factors.listByUser(user.id),
      deps.factors.countCodes(user.id),
      deps.passkeys.listByUser(user.id),
    ]);
    const hasApp = deps.factorSecrets !== null && factors.some(isConfirmed);
    const hasPasskey = passkeys.length > 0;
    return {
      methods: [
        ...(hasApp ? (['totp'] as const) : []),
        ...(codes > 0 ? (['recovery-code'] as const) : []),
        ...(hasPasskey ? (['passkey'] as const) : []),
      ],
      expiresAt: pending.expiresAt,
      challenge: hasPasskey ? newChallenge(deps, { purpose: 'passkey-use', userId: '', sessionId: '' }) : null,
    };
  };

type FinishLoginInput = {
  /** As the browser presents them. */
  readonly pendingLogins: readonly string[];
  readonly factor: PresentedFactor;
  /** The refresh tokens of the request. */
  readonly refreshTokens?: readonly string[];
  readonly origin?: Origin;
  readonly presented?: Presented;
};

/**
 * Opens the session of a pending log-in for a user who shows the second factor. Both are used up together with it.
 * @throws AppError AUTH_ACCOUNT_DISABLED, AUTH_DEVICE_UNPROVEN, AUTH_EMAIL_UNVERIFIED, AUTH_PASSKEY_INVALID, AUTH_PROOF_EXPIRED,
 *   AUTH_SECOND_FACTOR_INVALID, CLIENT_REQUEST_RATE_LIMIT_EXCEEDED; DB_RECORD_NOT_FOUND when nobody has such a passkey.
 */
export const finishLogin =
  (deps: FinishLoginDeps) =>
  async (input: FinishLoginInput, cancellation = NEVER_CANCELLED): Promise<OpenedSession> => {
    const { pendingLogins, factor, refreshTokens = [], origin = NO_ORIGIN, presented = NOTHING_PRESENTED } = input;
    const keys = keysOf(await provenDevice(deps, presented));
    const verified = await verifiedTokens(deps, refreshTokens);
    const { pending, user } = await openPendingLogin(deps, pendingLogins);
    assertMayLogIn(deps, user);
    const own = verified.find(({ claims }) => claims.sub === user.id);
    const attempts = codeAttempts(user, own);
    const shown = await showFactor(deps, factor, { user, attempts, origin }).catch((error: unknown) => {
      if (error instanceof AppError && error.status < 500) deps.report?.('login-refused', user.id, origin);
      throw error;
    });
    const now = deps.clock.now();
    const authentications = [
      { method: 'password', at: pending.startedAt },
      { method: shown.method, at: now },
    ] as const;
    const { session, opened } = await prepareSession(deps, { user, now, origin, keys, authentications });
    cancellation.throwIfAborted();
    await deps.unitOfWork.run(async (stores) => {
      const locked = assertSamePassword(pending, await stores.users.lock(user.id));
      assertMayLogIn(deps, locked);
      await usePendingLogin(stores, pending);
      await shown.use(stores);
      await storeLogin(deps, stores, { user: locked, session, verified, isOwnDevice: own !== undefined, origin });
    });
    return opened;
  };

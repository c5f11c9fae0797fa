import { NO_ORIGIN, type Origin } from '../../domain/event.ts';
import { NEVER_CANCELLED } from '../cancellation.ts';
import { type AnyLoginDeps, assertMayLogIn, storeLogin } from '../login/store-login.ts';
import type { UsedCredential } from '../ports/webauthn.ts';
import { verifiedTokens } from '../sessions/assess-tokens.ts';
import { type OpenedSession, prepareSession } from '../sessions/open-session.ts';
import { NOTHING_PRESENTED, type Presented, provenKeys } from '../sessions/prove-device.ts';
import {
  type ChallengeDeps,
  type NewChallenge,
  newChallenge,
  type ShowPasskeyDeps,
  shownPasskey,
  unknownPasskey,
  usePasskey,
} from './use-passkey.ts';

/** A challenge for a passkey of any user. Nothing is stored: a page that offers passkeys may ask each time it is opened. */
export const passkeyChallenge = (deps: ChallengeDeps) => (): NewChallenge =>
  newChallenge(deps, { purpose: 'passkey-use', userId: '', sessionId: '' });

export type PasskeyLoginDeps = AnyLoginDeps & ShowPasskeyDeps;

type PasskeyLogin = {
  readonly credential: UsedCredential;
  /** The refresh tokens of the request. */
  readonly refreshTokens?: readonly string[];
  readonly origin?: Origin;
  readonly presented?: Presented;
};

/**
 * Opens a session for a user who shows a passkey, and ends the sessions whose tokens the request presents.
 * @throws AppError AUTH_ACCOUNT_DISABLED, AUTH_DEVICE_UNPROVEN, AUTH_EMAIL_UNVERIFIED, AUTH_PASSKEY_INVALID, AUTH_PROOF_EXPIRED;
 *   AUTH_SECOND_FACTOR_REQUIRED when the user has a second factor, and the passkey's device has not verified its user;
 *   DB_RECORD_NOT_FOUND when nobody has such a passkey.
 */
export const logInWithPasskey =
  (deps: PasskeyLoginDeps) =>
  async (input: PasskeyLogin, cancellation = NEVER_CANCELLED): Promise<OpenedSession> => {
    const { credential, refreshTokens = [], origin = NO_ORIGIN, presented = NOTHING_PRESENTED } = input;
    const keys = await provenKeys(deps, presented);
    const verified = await verifiedTokens(deps, refreshTokens);
    const shown = await shownPasskey(deps, credential);
    const user = await deps.users.findById(shown.passkey.userId);
    if (user === null) throw unknownPasskey();
    assertMayLogIn(deps, user);
    const now = deps.clock.now();
    const authentications = [{ method: shown.method, at: now }] as const;
    const { session, opened } = await prepareSession(deps, { user, now, origin, keys, authentications });
    const isOwnDevice = verified.some(({ claims }) => claims.sub === user.id);
    cancellation.throwIfAborted();
    await deps.transactions.run(async (stores) => {
      const locked = await stores.users.lock(user.id);
      if (locked === null) throw unknownPasskey();
      await usePasskey(deps, stores, shown, { user: locked, origin });
      await storeLogin(deps, stores, { user: locked, session, verified, isOwnDevice, origin });
    });
    return opened;
  };

import { type PublicUser, publicUser, type User } from '../../domain/user.ts';
import type { Clock } from '../ports/clock.ts';
import type { PasskeyRepository } from '../ports/passkey-repository.ts';
import type { AccessToken, TokenSigner, Verified } from '../ports/token-signer.ts';
import { type Caller, type LiveUserDeps, liveUser } from './live-user.ts';

export type AuthenticateDeps = { readonly tokens: TokenSigner; readonly clock: Clock };

/** Verifies an access token. Returns a result and does not throw, because a route may allow requests without a valid token. */
export const authenticate =
  ({ tokens, clock }: AuthenticateDeps) =>
  (accessToken: string): Promise<Verified<AccessToken>> =>
    tokens.verifyAccess(accessToken, clock.now());

/** What users see of themselves: more than there is in their tokens. */
export type CurrentUser = PublicUser &
  Pick<User, 'attributes' | 'locale'> & {
    readonly emailVerified: boolean;
    /** Whether log-ins with the password need a second factor. */
    readonly secondFactor: boolean;
    /** How many there are. */
    readonly passkeys: number;
  };

type PasskeyDeps = { readonly passkeys: Pick<PasskeyRepository, 'listByUser'> };

export type CurrentUserDeps = LiveUserDeps & PasskeyDeps;

export const currentUser = async ({ passkeys }: PasskeyDeps, user: User): Promise<CurrentUser> => ({
  ...publicUser(user),
  emailVerified: user.emailVerifiedAt !== null,
  attributes: user.attributes,
  locale: user.locale,
  secondFactor: user.secondFactorAt !== null,
  passkeys: (await passkeys.listByUser(user.id)).length,
});

/**
 * The user as stored now, which may differ from the claims of the access token.
 * @throws AppError AUTH_TOKEN_INVALID, DB_RECORD_NOT_FOUND
 */
export const getCurrentUser =
  (deps: CurrentUserDeps) =>
  async (caller: Caller): Promise<CurrentUser> =>
    currentUser(deps, await liveUser(deps, caller));

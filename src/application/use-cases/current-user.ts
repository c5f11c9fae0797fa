import { type PublicUser, publicUser, type User } from '../../domain/user.ts';
import type { Clock } from '../ports/clock.ts';
import type { AccessToken, TokenSigner, Verified } from '../ports/token-signer.ts';
import { type Caller, type LiveUserDeps, liveUser } from '../steps/live-user.ts';

export type AuthenticateDeps = { readonly tokens: TokenSigner; readonly clock: Clock };

/** Verifies an access token. Returns a result and does not throw, because a route may allow requests without a valid token. */
export const authenticate =
  ({ tokens, clock }: AuthenticateDeps) =>
  (accessToken: string): Promise<Verified<AccessToken>> =>
    tokens.verifyAccess(accessToken, clock.now());

/** What users see of themselves: more than there is in their tokens. */
export type CurrentUser = PublicUser & Pick<User, 'attributes' | 'locale'> & { readonly emailVerified: boolean };

export const currentUser = (user: User): CurrentUser => ({
  ...publicUser(user),
  emailVerified: user.emailVerifiedAt !== null,
  attributes: user.attributes,
  locale: user.locale,
});

/**
 * The user as stored now, which may differ from the claims of the access token.
 * @throws AppError AUTH_TOKEN_INVALID, DB_RECORD_NOT_FOUND
 */
export const getCurrentUser =
  (deps: LiveUserDeps) =>
  async (caller: Caller): Promise<CurrentUser> =>
    currentUser(await liveUser(deps, caller));

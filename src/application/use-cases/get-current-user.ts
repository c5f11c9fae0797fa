import { type PublicUser, publicUser } from '../../domain/user.ts';
import { type Caller, type LiveUserDeps, liveUser } from '../steps/live-user.ts';

/**
 * The user as stored now, which may differ from the claims of the access token.
 * @throws AppError AUTH_TOKEN_INVALID, DB_RECORD_NOT_FOUND
 */
export const getCurrentUser =
  (deps: LiveUserDeps) =>
  async (caller: Caller): Promise<PublicUser> =>
    publicUser(await liveUser(deps, caller));

import { noEvidence } from '../../domain/device-binding.ts';
import { AppError } from '../../domain/errors/app-error.ts';
import { assessTokens, mostFavorable, verifiedTokens } from '../steps/assess-tokens.ts';
import type { TokenPair } from '../steps/open-session.ts';
import { NOTHING_PRESENTED, shownBy } from '../steps/prove-device.ts';
import { LostRace, type RefreshDeps, type RefreshOptions, refresh } from './refresh.ts';

/** Where a navigation goes on. */
export type Continuation =
  /** To the page that it is for. `null`: another navigation has renewed the session a moment ago, and gets the cookies. */
  | { readonly next: 'target'; readonly pair: TokenPair | null }
  /** To a page of the service that proves the key of the device: only a script can. */
  | { readonly next: 'proof' }
  /** To the page that logs in: nobody is logged in. */
  | { readonly next: 'login' };

/**
 * Renews the session of a browser that navigates to a page which a server renders (ADR 0060).
 * @param presented the refresh tokens of the browser.
 * @throws AppError DB_QUERY_FAILED
 */
export const continueNavigation = (deps: RefreshDeps) => {
  const renew = refresh(deps);
  return async (presented: readonly string[], options: RefreshOptions = {}): Promise<Continuation> => {
    if (await needsPage(deps, presented, options)) return { next: 'proof' };
    try {
      const { accessToken, refreshToken } = await renew(presented, options);
      return { next: 'target', pair: { accessToken, refreshToken } };
    } catch (error) {
      if (error instanceof LostRace) return { next: 'target', pair: null };
      if (error instanceof AppError && error.code === 'AUTH_FAILED') return { next: 'login' };
      if (error instanceof AppError && error.code === 'AUTH_DEVICE_UNPROVEN') return { next: 'proof' };
      throw error;
    }
  };
};

/** Whether only a page can show the device. Asked first, since a refresh would record an attempt without a proof. */
const needsPage = async (
  deps: RefreshDeps,
  presented: readonly string[],
  { presented: device = NOTHING_PRESENTED }: RefreshOptions,
): Promise<boolean> => {
  const verified = await verifiedTokens(deps, presented);
  if (verified.length === 0) return false;
  const { browserKey } = (await shownBy(deps, device, verified)).evidence;
  const assessed = await assessTokens(deps, verified, { ...noEvidence(deps.deviceBinding), browserKey });
  return mostFavorable(assessed).status === 'unproven';
};

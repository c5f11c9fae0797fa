import { browser } from './host.ts';
import type { Return, UserPage } from './types.ts';

/** What the service puts at the end of the address to which it leads back, or a log-in at a provider that has failed. The next one may succeed. */
const MARK = /[?&](?:tandem=(logged-(?:in|out))|error=[A-Z_]+)(?=#|$)/;

export type Back = 'logged-in' | 'logged-out';

/** Whether the visitor has come back from a log-in or a log-out, as the address of this page says. It is removed from there. */
export const cameBack = (): Back | undefined => {
  const host = browser();
  const [, state] = MARK.exec(host?.location.href ?? '') ?? [];
  if (host && state) host.history.replaceState(host.history.state, '', host.location.href.replace(MARK, ''));
  return state as Back | undefined;
};

/** Where the service leads back to: by default to where the visitor is. */
export const wayBack = ({ to }: Return = {}, here = browser()?.location.href): string | undefined =>
  (to ?? here) && new URL((to ?? here) as string, here).href.replace(MARK, '');

/** The address of a page of the service, which leads back. */
export const userPage = (base: string, page: UserPage, options?: Return, here?: string): string => {
  const back = wayBack(options, here);
  return `${base}/auth/${page}${back ? `?to=${encodeURIComponent(back)}` : ''}`;
};

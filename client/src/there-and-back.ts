import { browser } from './host.ts';
import type { Return, UserPage } from './types.ts';

/**
 * What the service puts at the end of the address to which it leads back, or a log-in at a provider that has failed. The next one may succeed. A code
 * binds the session to the key that the application has; a path is that of a page whose visitor is to prove it.
 */
const MARK = /[?&](?:(?:tandem_code=([\w.-]+)?&)?tandem=(logged-(?:in|out)|%2F[\w%-]*)|error=[A-Z_]+)(?=#|$)/;

/** What the address says. Anybody can make it up. */
export type Back = { readonly code?: string | undefined; readonly state?: string | undefined };

/** Whether the visitor has come back from a log-in or a log-out, as the address of this page says. It is removed from there. */
export const cameBack = (): Back => {
  const host = browser();
  const [, code, state] = MARK.exec(host?.location.href ?? '') ?? [];
  if (host && state) host.history.replaceState(host.history.state, '', host.location.href.replace(MARK, ''));
  return { code, state };
};

/** Where the service leads back to: by default to where the visitor is. */
export const wayBack = ({ to }: Return = {}, here = browser()?.location.href): string | undefined =>
  (to ?? here) && new URL((to ?? here) as string, here).href.replace(MARK, '');

/** The same after a log-in: in a browser that gives the pages of the service another storage, the application asks for a code. */
export const wayBackIn = (options?: Return, here?: string): string | undefined => {
  const back = wayBack(options, here);
  if (!back || !browser()?.navigator.vendor?.startsWith('Apple')) return back;
  const url = new URL(back);
  url.search += `${url.search ? '&' : '?'}tandem_code=`;
  return url.href;
};

/** The address of a page of the service, which leads back. */
export const userPage = (base: string, page: UserPage, options?: Return, here?: string): string => {
  const back = (/^(log-in|reg)/.test(page) ? wayBackIn : wayBack)(options, here);
  return `${base}/auth/${page}${back ? `?to=${encodeURIComponent(back)}` : ''}`;
};

import { browser } from './host.ts';
import type { Return, UserPage } from './types.ts';

/**
 * What the service adds to the end of the address to which it leads back: `tandem` says whether the visitor has logged in or out, or is the path of a
 * page of the service that needs a proof of the key; `tandem_code` binds the session to the key; `error` says that a log-in at a provider has failed.
 */
const MARK = /[?&](?:(?:tandem_code=([\w.-]+)?&)?tandem=(logged-(?:in|out)|%2F[\w%-]*)|error=[A-Z_]+)(?=#|$)/;

/** The parts of the mark in the address of the page. Anybody can make such an address. */
export type ReturnMark = { readonly code?: string | undefined; readonly state?: string | undefined };

/** Reads what the service has added to the address of this page, and removes it from the address, except for an error. */
export const takeReturnMark = (): ReturnMark => {
  const host = browser();
  const [, code, state] = MARK.exec(host?.location.href ?? '') ?? [];
  if (host && state) host.history.replaceState(host.history.state, '', host.location.href.replace(MARK, ''));
  return { code, state };
};

export const returnUrl = ({ to }: Return = {}, here = browser()?.location.href): string | undefined =>
  (to ?? here) && new URL((to ?? here) as string, here).href.replace(MARK, '');

/** The URL to which the service leads back after a log-in. It asks for a code: neither a log-in at a provider nor, in Safari, one at the pages has the key. */
export const returnUrlAfterLogin = (options?: Return, here?: string): string | undefined => {
  const back = returnUrl(options, here);
  if (!back || !browser()) return back;
  const url = new URL(back);
  url.search += `${url.search ? '&' : '?'}tandem_code=`;
  return url.href;
};

export const userPage = (base: string, page: UserPage, options?: Return, here?: string): string => {
  const back = (/^(log-in|reg)/.test(page) ? returnUrlAfterLogin : returnUrl)(options, here);
  return `${base}/auth/${page}${back ? `?to=${encodeURIComponent(back)}` : ''}`;
};

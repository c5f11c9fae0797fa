import { AuthError } from './auth-error.ts';
import { browser, ignore } from './host.ts';
import type { AuthErrorCode } from './types.ts';

/** Headers that the service always allows, and headers that need no permission ("CORS-safelisted" in the Fetch standard). */
const ALLOWED = /^(authorization|svc-request-id|accept|(accept|content)-language|content-type|range)$/;

/** Finds out why a request has failed, as far as a page can know it. */
export const diagnosis = (baseUrl: string, get: typeof fetch) => {
  const host = browser();
  /** The global `fetch` of Node keeps no cookie; that of a worker in a browser does. */
  const keepsNoCookie = !host && get === globalThis.fetch && 'process' in globalThis;
  const location = host?.location;
  const { origin, hostname } = new URL(baseUrl);
  /** How the developer can make the browser keep the cookie; empty if no reason is known why it would drop the cookie. */
  let advice =
    location && location.hostname !== hostname ? ' Put both on one site: localhost and 127.0.0.1 are two.' : '';
  try {
    void host?.localStorage;
  } catch {
    // `localStorage` is blocked together with cookies. `navigator.cookieEnabled` does not show that in Chromium.
    advice = ' Allow cookies.';
  }
  // In a frame inside a page of another site, browsers may drop the cookie. Not every browser tells a frame the site of that page.
  if (host?.top !== host?.self) advice += ' Open the page outside of the frame.';

  /** An error that the developer has to see: the console shows its message as well. */
  const fail = (code: AuthErrorCode, message: string, cause?: unknown): AuthError => {
    // biome-ignore lint/suspicious/noConsole: a page that swallows the error would hide a wrong setup.
    console.error(message);
    return new AuthError(code, message, { cause });
  };

  return {
    origin,
    mayLoseCookie: !!advice,
    keepsNoCookie,
    cookieLost: (): AuthError =>
      fail(
        'CLIENT_COOKIE_BLOCKED',
        keepsNoCookie
          ? 'Node keeps no cookie: pass a fetch that does.'
          : `The browser blocked the cookie of ${origin}.${advice}`,
      ),
    /**
     * The error of a request without a response. Browsers hide the reason. If the target answers without CORS, but not with CORS, the reason is
     * CORS. Any page may load `/client.js` of the service without CORS.
     */
    noResponse: async ({ url, headers }: Request, isOurs: boolean, cause: unknown): Promise<AuthError> => {
      /** The names of the headers. Libraries for tracing, which replace `fetch`, may add headers to `init.headers`. */
      const names = new Set(['authorization', ...headers.keys()]);
      const fetchOnce = async (mode: 'no-cors' | 'cors') => {
        // With `no-cors`, the browser sends only headers that need no permission. With `cors`, the target has to allow the others.
        const init = {
          mode,
          cache: 'no-store' as const,
          headers: Object.fromEntries([...names].map((name) => [name, ''])),
        };
        const answer = await get(isOurs ? `${baseUrl}/client.js` : url, init).catch(ignore);
        for (const name of new Headers(init.headers).keys()) names.add(name);
        return answer;
      };
      if (location && (await fetchOnce('no-cors')) && !(await fetchOnce('cors'))) {
        const others = [...names].filter((name) => !ALLOWED.test(name)).join(', ');
        return fail(
          'CLIENT_ORIGIN_REFUSED',
          `${new URL(url).origin} refuses ${location.origin}.${
            isOurs
              ? `${advice} List the page in ALLOWED_ORIGINS_DEV or _PROD.${others && ` List ${others} in ALLOWED_HEADERS.`}`
              : ` Allow it and Authorization${others && `, ${others}`} by CORS.`
          }`,
          cause,
        );
      }
      const code = host?.navigator.onLine === false ? 'CLIENT_NETWORK_OFFLINE' : 'CLIENT_NETWORK_FAILED';
      return new AuthError(code, `No response: ${url}`, { cause, retryable: true });
    },
  };
};

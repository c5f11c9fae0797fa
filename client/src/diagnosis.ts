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
  /** How the developer can make the browser keep the cookie; empty if the browser has no known reason to drop it. */
  let advice =
    location && location.hostname !== hostname ? ' Put both on one site: localhost and 127.0.0.1 are two.' : '';
  try {
    void host?.localStorage;
  } catch {
    // `localStorage` is blocked together with cookies. `navigator.cookieEnabled` does not show that in Chromium.
    advice = ' Allow cookies.';
  }
  // The cookie is dropped only in a frame of another site, but not every browser tells a page whether the frames around it are of another site.
  if (host?.top !== host?.self) advice += ' Open the page outside of the frame.';

  /** An error that the developer has to see, so the console gets it, too. */
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
     * The error of a request without a response. Browsers hide the reason. But if the target answers a request without CORS, and none with CORS, then
     * CORS is the reason. The service lets pages load one path without CORS.
     */
    noResponse: async ({ url, headers }: Request, isOurs: boolean, cause: unknown): Promise<AuthError> => {
      /** The names of the headers, to which those are added that a library for tracing sets in `init.headers`. */
      const names = new Set(['authorization', ...headers.keys()]);
      const fetchOnce = async (mode: 'no-cors' | 'cors') => {
        // Without CORS, these headers are not sent. With CORS, the target has to allow them.
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

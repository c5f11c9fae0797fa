import { AuthError } from './auth-error.ts';
import { browser, ignore } from './host.ts';
import type { AuthErrorCode } from './types.ts';

/** Those that the service always allows, and those that need no permission (Fetch standard, "CORS-safelisted"). */
const ALLOWED = /^(authorization|svc-request-id|accept|(accept|content)-language|content-type|range)$/;

/** Why something has failed, as far as a page may know it. */
export const diagnosis = (baseUrl: string, get: typeof fetch) => {
  const host = browser();
  /** The global `fetch` of Node keeps no cookie; that of a worker in a browser does. */
  const keepsNoCookie = !host && get === globalThis.fetch && 'process' in globalThis;
  const location = host?.location;
  const { origin, hostname } = new URL(baseUrl);
  /** What a browser needs to keep the cookie, if it may drop it without a word. */
  let advice =
    location && location.hostname !== hostname ? ' Put both on one site: localhost and 127.0.0.1 are two.' : '';
  try {
    void host?.localStorage;
  } catch {
    // Blocked together with cookies; `cookieEnabled` is true in Chromium nevertheless.
    advice = ' Allow cookies.';
  }
  // Not every browser tells a page whether the frames around it are of another site, which is what matters.
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
     * Of a request without a response. A browser hides the reason; but if there is a response without CORS, and none with it, that is the
     * reason. The service lets pages load one path without CORS.
     */
    noResponse: async ({ url, headers }: Request, isOurs: boolean, cause: unknown): Promise<AuthError> => {
      /** Headers that need a permission, with those that a library for tracing adds to what it is given. */
      const names = new Set(['authorization', ...headers.keys()]);
      const answers = async (mode: 'no-cors' | 'cors') => {
        // Not sent without CORS; with CORS, the target has to allow them.
        const init = {
          mode,
          cache: 'no-store' as const,
          headers: Object.fromEntries([...names].map((name) => [name, ''])),
        };
        const answer = await get(isOurs ? `${baseUrl}/client.js` : url, init).catch(ignore);
        for (const name of new Headers(init.headers).keys()) names.add(name);
        return answer;
      };
      if (location && (await answers('no-cors')) && !(await answers('cors'))) {
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

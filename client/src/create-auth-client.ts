import { AuthError } from './auth-error.ts';
import { ignore } from './host.ts';
import { bodyOf, dataOf } from './response.ts';
import { service } from './service.ts';
import { session } from './session.ts';
import { isDue, userOf } from './token.ts';
import type { AuthClient, AuthClientOptions, Refreshed, SessionInfo, SignedIn, User } from './types.ts';

export const createAuthClient = (options: AuthClientOptions): AuthClient => {
  const http = service(options);
  const { origin, isOurs, call, refresh } = http;
  const { token: current, renew, listeners, ...state } = session(http);
  const value = (): string | undefined => current()?.value;
  const allowed = [origin, ...(options.origins ?? [])];

  /** A token that is good for now: if it can't be renewed yet, it is used until it expires. */
  const accessToken = async (): Promise<string | null> => {
    const token = current();
    if (token ? isDue(token) : token !== null)
      await renew().catch((error: unknown) => {
        if (!token || token.left() <= 0) throw error;
      });
    return value() ?? null;
  };

  const send = (request: Request, token: string | null): Promise<Response> => {
    if (token) request.headers.set('Authorization', `Bearer ${token}`);
    return http.send(request);
  };

  /** Whether a response says that the access token is not valid. The service has a code for that: a wrong password is a 401, too. */
  const isRefused = async (request: Request, response: Response): Promise<boolean> => {
    if (response.status !== 401) return false;
    return !isOurs(request) || (await bodyOf(response.clone())).code === 'AUTH_TOKEN_INVALID';
  };

  const authorized = async (request: Request): Promise<Response> => {
    const first = await accessToken();
    // A body can be read once, so the first attempt gets a copy.
    const response = await send(request.clone(), first);
    if (!first || !(await isRefused(request, response))) return response;
    if (value() === first) await renew(first);
    const second = value();
    return second ? send(request, second) : response;
  };

  const ask = async <Data>(method: string, path: string, body?: object): Promise<Data> =>
    dataOf<Data>(await authorized(http.request(method, path, body)));

  /** On another host the browser may drop the cookie without a word. A renewal shows it at once, not when the token expires. */
  const signIn = async (path: string, body: object): Promise<Refreshed> => {
    const signedIn = await call<SignedIn>('POST', path, body);
    // If the service gives no answer, the token of the log-in is used.
    const renewed = http.mayLoseCookie ? await refresh().catch(() => signedIn) : signedIn;
    if (!renewed) throw http.cookieLost();
    return renewed;
  };
  const enter = (path: string, body: object): Promise<User> => state.enter(() => signIn(path, body));

  const ready = state.restore();
  // Who does not wait for it is not told.
  ready.catch(ignore);

  return {
    get user() {
      return userOf(current());
    },
    ready,
    onChange: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    register: (registration) => enter('/auth/register', registration),
    login: (credentials) => enter('/auth/login', credentials),
    logout: () => state.leave(() => call('GET', '/auth/clear-cookie')),
    refresh: () => renew(value()),
    changePassword: (change) => ask('PUT', '/users/me/password', change),
    sessions: {
      list: () => ask<readonly SessionInfo[]>('GET', '/auth/sessions'),
      end: (id) => ask('DELETE', `/auth/sessions/${encodeURIComponent(id)}`),
      endOthers: () => ask('DELETE', '/auth/sessions?except=current'),
    },
    fetch: async (input, init) => {
      // A redirect could take the token to another origin.
      const request = new Request(input, { ...init, redirect: init?.redirect === 'manual' ? 'manual' : 'error' });
      const target = new URL(request.url).origin;
      if (!allowed.includes(target)) throw new AuthError('CLIENT_TARGET_REFUSED', `${target} is not in origins.`);
      return authorized(request);
    },
    accessToken,
    setCookies: http.setCookies,
    dispose: state.dispose,
  };
};

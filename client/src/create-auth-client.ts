import { AuthError } from './auth-error.ts';
import { browser, ignore } from './host.ts';
import { bodyOf, dataOf } from './response.ts';
import { service } from './service.ts';
import { session } from './session.ts';
import { userPage, wayBack, wayBackIn } from './there-and-back.ts';
import { type Token, userOf } from './token.ts';
import type * as Api from './types.ts';

/** What a challenge says is missing (RFC 9470), in the order in which the user is asked. */
const missingIn = (challenge: string): Api.StepUpReason[] => [
  ...(challenge.includes('max_age') ? (['recent'] as const) : []),
  ...(challenge.includes('acr_values') ? (['second-factor'] as const) : []),
];

export const createAuthClient = (options: Api.AuthClientOptions): Api.AuthClient => {
  const http = service(options);
  const { origin, isOurs } = http;
  const origins = options.origins?.map((url) => new URL(url).origin);
  const { token: current, renew, enter, ...members } = session(http, options.ignoreHint);

  /** A token that is good for now: if it can't be renewed yet, it is used until it expires. */
  const fresh = async () => {
    const token = current();
    if (token ? token.untilDue() <= 0 : token !== null)
      await renew().catch((error: unknown) => {
        if (!token || token.untilDue() <= -token.margin) throw error;
      });
    return current();
  };

  const prompts: { [Reason in Api.StepUpReason]?: Promise<unknown> } = {};
  /** Calls at once share a prompt, and one prompt waits for the other. */
  const prompt = (reason: Api.StepUpReason): Promise<unknown> => {
    prompts[reason] ??= Promise.resolve(prompts[reason === 'recent' ? 'second-factor' : 'recent'])
      .catch(ignore)
      .then(() => options.onStepUp?.(reason))
      .finally(() => {
        delete prompts[reason];
      });
    return prompts[reason];
  };

  const authorized = (request: Request, transport = http.send): Promise<Response> => {
    let user = userOf(current());
    /** What one user has asked for is not sent as another one, who has logged in meanwhile. */
    const send = async (copy: Request, token: Token | null | undefined, again?: boolean): Promise<Response> => {
      user ??= userOf(token);
      if (token && token.user.id === user?.id) await http.authorize(copy, token, again);
      return transport(copy);
    };
    /** @param asked for what the user was asked for this request. */
    const attempt = async (asked: readonly Api.StepUpReason[]): Promise<Response> => {
      const first = await fresh();
      // A body can be read once, so all attempts but the last get a copy.
      const copy = request.clone();
      const response = await send(copy, first);
      // Only the tokens count. The service has codes for that: a wrong password is a 401, too.
      if (!first || response.status !== 401) return response;
      const challenge = response.headers.get('WWW-Authenticate');
      if (options.onStepUp && challenge?.includes('insufficient_user')) {
        // The user may have stepped up for another call meanwhile.
        if (current() !== first && userOf(current())?.id === user?.id) return attempt(asked);
        const reason = missingIn(challenge).find((each) => !asked.includes(each));
        if (!reason) return response;
        await prompt(reason);
        return current() ? attempt([...asked, reason]) : response;
      }
      if (isOurs(request) && !(await bodyOf(response.clone())).code?.match(/TOKEN_INVALID|FAILED/)) return response;
      // Without a key, a renewal shows that the session is lost.
      const isUnproven = copy.headers.has('DPoP') && challenge?.includes('invalid_dpop_proof');
      if (current() === first && !isUnproven) await renew(first.value);
      const second = current();
      return second ? send(request, second, !!isUnproven) : response;
    };
    return attempt([]);
  };

  const ask = async <Data>(method: string, path: string, body?: object, transport = http.send): Promise<Data> =>
    dataOf<Data>(await authorized(http.request(method, path, body), transport));

  /** For a request that opens another session: renewals wait for it, and it for them, since each brings a cookie. */
  const alone = async (request: Request): Promise<Response> => {
    let response: Response | undefined;
    await enter(async () => {
      response = await http.send(request);
      return (await bodyOf(response.clone())).data as Api.RefreshResult | null;
    }, 'refresh');
    return response as Response;
  };

  const signIn = (path: string, body: object, seen?: (result: Api.LoginResult) => void): Promise<Api.User | null> =>
    enter(async () => {
      const signedIn = await http.proven<Api.LoginResult | null>(path, body);
      if (signedIn) seen?.(signedIn);
      // On another host the browser may drop the cookie without a word. A renewal shows it at once, not when the token expires.
      // If the service gives no answer, the token of the log-in is used.
      const renewed = signedIn && http.mayLoseCookie ? await http.exchange().catch(() => signedIn) : signedIn;
      if (signedIn && !renewed) throw http.cookieLost();
      return renewed ?? null;
    });

  return {
    get user() {
      return userOf(current());
    },
    get binding() {
      return current()?.binding ?? 'none';
    },
    ...members,
    register: (registration) => signIn('/auth/register', registration),
    login: (credentials) => signIn('/auth/login', credentials) as Promise<Api.User>,
    requestCode: (account) => ask('POST', '/auth/login/code', { account }),
    logInWithCode: (code) => signIn('/auth/login/code/confirm', { code }) as Promise<Api.User>,
    logInAt: ((at?: string | Api.Return, body?: object, seen?: Parameters<typeof signIn>[2]) =>
      body
        ? signIn(at as string, body, seen)
        : browser()?.location.assign(userPage(http.base, 'log-in', at as Api.Return))) as Api.AuthClient['logInAt'],
    logInWith: async (provider, { to, link, ...more } = {}) => {
      const path = `/auth/oidc/${provider}${link ? '/link' : ''}`;
      const { url } = await ask<{ readonly url: string }>('POST', path, {
        errorTo: wayBack(),
        ...more,
        to: (link ? wayBack : wayBackIn)({ to }),
      });
      browser()?.location.assign(url);
    },
    linkTo: (page, options) => userPage(http.base, page, options),
    stepUp: (shown) => ask('POST', '/auth/step-up', shown, alone),
    refresh: () => renew(current()?.value),
    changePassword: (change) => ask('PUT', '/users/me/password', change, alone),
    sessions: {
      list: () => ask<readonly Api.SessionInfo[]>('GET', '/auth/sessions'),
      end: (id) =>
        id === current()?.sid ? members.logout() : ask('DELETE', `/auth/sessions/${encodeURIComponent(id)}`),
      endOthers: () => ask('DELETE', '/auth/sessions?except=current', undefined, alone),
    },
    fetch: async (input, init) => {
      // A redirect could take the token to another origin.
      const request = new Request(input, { ...init, redirect: init?.redirect === 'manual' ? 'manual' : 'error' });
      const target = new URL(request.url).origin;
      if (target !== origin && !origins?.includes(target))
        throw new AuthError('CLIENT_TARGET_REFUSED', `${target} is not in origins. Paths belong to the page.`);
      return authorized(request);
    },
    accessToken: async () => (await fresh())?.value ?? null,
  };
};

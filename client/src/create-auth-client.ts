import { AuthError } from './auth-error.ts';
import { browser, ignore } from './host.ts';
import { bodyOf, dataOf } from './response.ts';
import { service } from './service.ts';
import { session } from './session.ts';
import { returnUrl, returnUrlAfterLogin, userPage } from './there-and-back.ts';
import { type Token, userOf } from './token.ts';
import type * as Api from './types.ts';

/** The step-ups that a challenge asks for (RFC 9470), in the order in which the user is asked. */
const missingIn = (challenge: string): Api.StepUpReason[] => [
  ...(challenge.includes('max_age') ? (['recent'] as const) : []),
  ...(challenge.includes('acr_values') ? (['second-factor'] as const) : []),
];

export const createAuthClient = (options: Api.AuthClientOptions): Api.AuthClient => {
  const http = service(options);
  const { origin, isOurs } = http;
  const origins = options.origins?.map((url) => new URL(url).origin);
  const { token: currentToken, renew, enter, ...members } = session(http, options.ignoreHint);

  /** The token, renewed if it is due. If the renewal fails, the old token is used until it expires. */
  const freshToken = async () => {
    const token = currentToken();
    if (token ? token.untilDue() <= 0 : token !== null)
      await renew().catch((error: unknown) => {
        if (!token || token.untilDue() <= -token.margin) throw error;
      });
    return currentToken();
  };

  const prompts: { [Reason in Api.StepUpReason]?: Promise<unknown> } = {};
  /** Asks the user for a step-up. Concurrent calls for the same reason share one prompt. Prompts for different reasons follow each other. */
  const prompt = (reason: Api.StepUpReason): Promise<unknown> => {
    prompts[reason] ??= Promise.resolve(prompts[reason === 'recent' ? 'second-factor' : 'recent'])
      .catch(ignore)
      .then(() => options.onStepUp?.(reason))
      .finally(() => {
        delete prompts[reason];
      });
    return prompts[reason];
  };

  const sendAuthorized = (request: Request, transport = http.send): Promise<Response> => {
    let user = userOf(currentToken());
    /** Sends the request with the token, unless the token is that of another user, who has logged in meanwhile. */
    const send = async (copy: Request, token: Token | null | undefined, again?: boolean): Promise<Response> => {
      user ??= userOf(token);
      if (token && token.user.id === user?.id) await http.authorize(copy, token, again);
      return transport(copy);
    };
    /** @param asked the step-ups that this request has asked for. @param again `true` after a refused proof, `false` after a refused token */
    const attempt = async (asked: readonly Api.StepUpReason[], again?: boolean): Promise<Response> => {
      const sentToken = again === undefined ? await freshToken() : currentToken();
      // A body can be read only once, so each attempt sends a copy.
      const copy = request.clone();
      const response = await send(copy, sentToken, again);
      if (!sentToken || response.status !== 401) return response;
      const challenge = response.headers.get('WWW-Authenticate');
      if (options.onStepUp && challenge?.includes('insufficient_user')) {
        // The user may have stepped up for another call meanwhile.
        if (currentToken() !== sentToken && userOf(currentToken())?.id === user?.id) return attempt(asked);
        const reason = missingIn(challenge).find((each) => !asked.includes(each));
        if (!reason) return response;
        await prompt(reason);
        return currentToken() ? attempt([...asked, reason]) : response;
      }
      if (again !== undefined) return response;
      // Only a refused token is renewed. A wrong password also gets 401, with another code.
      if (isOurs(request) && !(await bodyOf(response.clone())).code?.match(/TOKEN_INVALID|FAILED/)) return response;
      // After a refused proof, the next one has the time of the service. If no proof was sent, the key is lost, and a renewal ends the session here.
      const isUnproven = copy.headers.has('DPoP') && challenge?.includes('invalid_dpop_proof');
      if (currentToken() === sentToken && !isUnproven) await renew(sentToken.value);
      return currentToken() ? attempt(asked, !!isUnproven) : response;
    };
    return attempt([]);
  };

  const ask = async <Data>(method: string, path: string, body?: object, transport = http.send): Promise<Data> =>
    dataOf<Data>(await sendAuthorized(http.request(method, path, body), transport));

  /** Sends a request whose response may set the refresh cookie. No renewal, which also sets it, runs meanwhile. */
  const sendAlone = async (request: Request): Promise<Response> => {
    let response: Response | undefined;
    await enter(async () => {
      response = await http.send(request);
      return (await bodyOf(response.clone())).data as Api.RefreshResult | null;
    }, 'refresh');
    return response as Response;
  };

  const signIn = (path: string, body: object, onResult?: (result: Api.LoginResult) => void): Promise<Api.User | null> =>
    enter(async () => {
      const result = await http.sendProven<Api.LoginResult | null>(path, body);
      if (result) onResult?.(result);
      // The browser may have dropped the cookie. A renewal shows that at once, and not only when the token expires.
      // If the renewal fails for another reason, the token of the log-in is used.
      const renewed = result && http.mayLoseCookie ? await http.exchange().catch(() => result) : result;
      if (result && !renewed) throw http.cookieLost();
      return renewed ?? null;
    });

  return {
    get user() {
      return userOf(currentToken());
    },
    get binding() {
      return currentToken()?.binding ?? 'none';
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
        errorTo: returnUrl(),
        ...more,
        to: (link ? returnUrl : returnUrlAfterLogin)({ to }),
      });
      browser()?.location.assign(url);
    },
    linkTo: (page, options) => userPage(http.base, page, options),
    stepUp: (factor) => ask('POST', '/auth/step-up', factor, sendAlone),
    refresh: () => renew(currentToken()?.value),
    changePassword: (change) => ask('PUT', '/users/me/password', change, sendAlone),
    sessions: {
      list: () => ask<readonly Api.SessionInfo[]>('GET', '/auth/sessions'),
      end: (id) =>
        id === currentToken()?.sid ? members.logout() : ask('DELETE', `/auth/sessions/${encodeURIComponent(id)}`),
      endOthers: () => ask('DELETE', '/auth/sessions?except=current', undefined, sendAlone),
    },
    fetch: async (input, init) => {
      // A redirect could take the token to another origin.
      const request = new Request(input, { ...init, redirect: init?.redirect === 'manual' ? 'manual' : 'error' });
      const target = new URL(request.url).origin;
      if (target !== origin && !origins?.includes(target))
        throw new AuthError('CLIENT_TARGET_REFUSED', `${target} is not in origins. Paths belong to the page.`);
      return sendAuthorized(request);
    },
    accessToken: async () => (await freshToken())?.value ?? null,
  };
};

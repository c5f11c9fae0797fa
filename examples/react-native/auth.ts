// In an app of your own: from 'tandem-client'.
import { createAuthClient, type User } from '../../client/src/index.ts';

/** What the app gets from its platform: README.md has it for Expo. */
export type Platform = {
  /** Keeps cookies, over starts of the app as well. */
  readonly fetch: typeof fetch;
  /** Opens the browser of the system. @returns the link that has led back to the app; `null`: the user has closed the browser. */
  readonly browse: (url: string, link: string) => Promise<string | null>;
  /** 43 characters of base64url, from 32 random bytes. */
  readonly random: () => string;
  /** SHA-256 in base64url, without padding. */
  readonly hash: (text: string) => Promise<string>;
};

type Options = {
  /** `BASE_URL` of the service. */
  readonly baseUrl: string;
  /** One of `APP_LINKS`. */
  readonly link: string;
  readonly platform: Platform;
};

export const openAuth = ({ baseUrl, link, platform }: Options) => {
  const auth = createAuthClient({
    baseUrl,
    // There is no localStorage that says whether there is a session.
    ignoreHint: true,
    // Not the global one as it is: of that, the client knows that Node keeps no cookies.
    fetch: (input, init) => platform.fetch(input, init),
  });
  /** Log-in in the browser of the system. Only this call knows the verifier: a link that somebody else has made opens no session. */
  const logInThrough = async (path: string): Promise<User | null> => {
    const verifier = platform.random();
    const to = `${link}?code_challenge=${await platform.hash(verifier)}`;
    const back = await platform.browse(`${baseUrl}${path}?to=${encodeURIComponent(to)}`, link);
    if (!back?.startsWith(`${to}&code=`)) return null;
    return auth.logInAt('/auth/login/app', { code: back.slice(`${to}&code=`.length), verifier });
  };
  return {
    /** `login` for a form of your own; `refresh`, `fetch` and `logout` as in a page. */
    auth,
    /** `null`: the user has not come back. */
    logInAtPages: () => logInThrough('/auth/log-in'),
    logInWith: (provider: string) => logInThrough(`/auth/oidc/${provider}`),
  };
};

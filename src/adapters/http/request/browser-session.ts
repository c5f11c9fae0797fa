import type { Context } from 'koa';
import type { inviteBrowser } from '../../../application/sessions/bind-browser.ts';
import { BOUND_COOKIE, httpOnlyCookie } from './cookies.ts';
import type { CookieSettings } from './settings.ts';

type BrowserSessionSettings = Pick<CookieSettings, 'sameSite' | 'maxAge'> & {
  readonly baseUrl: string;
  /** Origins of applications. Before a page of these origins refreshes, the browser renews an expired bound cookie. */
  readonly initiators: readonly string[];
};

const SAME_SITE = { lax: 'Lax', strict: 'Strict', none: 'None' } as const;

/** Device Bound Session Credentials (W3C). The browser renews the bound cookie only for requests that refresh. */
export const deviceBoundSessions = (
  { baseUrl, initiators, ...settings }: BrowserSessionSettings,
  invitationOf: ReturnType<typeof inviteBrowser>,
) => {
  const { origin, hostname, pathname } = new URL(baseUrl);
  const pathBelow = (path: string) => `${pathname.replace(/\/$/, '')}${path}`;
  const [path, deviceUrl] = [pathBelow('/auth'), pathBelow('/auth/device')];
  const refreshPaths = [pathBelow('/auth/refresh-token'), pathBelow('/auth/continue')];
  const attributes = `Path=${path}; Secure; HttpOnly; SameSite=${SAME_SITE[settings.sameSite]}`;
  return {
    /** How long a bound cookie proves that the browser has the key, in milliseconds. */
    lifetime: settings.maxAge,
    cookie: httpOnlyCookie(BOUND_COOKIE, { ...settings, path, secure: true }),
    /** Invites the browser to register a key for the session that this response opens. */
    invite: (ctx: Context, session: { readonly sessionId: string; readonly user: { readonly id: string } }): void => {
      const { challenge, authorization } = invitationOf({ userId: session.user.id, sessionId: session.sessionId });
      const parameters = `path="${deviceUrl}";challenge="${challenge}";authorization="${authorization}"`;
      ctx.set('Secure-Session-Registration', `(ES256);${parameters}`);
    },
    /** The instructions for a browser that has the key ("JSON Session Instruction Format"). @param identifier of the browser's session */
    instructions: (identifier: string) => ({
      session_identifier: identifier,
      refresh_url: deviceUrl,
      scope: {
        origin,
        include_site: false,
        scope_specification: [
          { type: 'exclude' as const, domain: '*', path: '/' },
          ...refreshPaths.map((each) => ({ type: 'include' as const, domain: hostname, path: each })),
        ],
      },
      credentials: [{ type: 'cookie' as const, name: BOUND_COOKIE, attributes }],
      allowed_refresh_initiators: [...new Set(initiators.map((each) => new URL(each).hostname))],
    }),
  };
};

export type DeviceBoundSessions = ReturnType<typeof deviceBoundSessions>;

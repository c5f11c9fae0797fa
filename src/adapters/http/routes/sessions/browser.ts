import type { Context } from 'koa';
import * as v from 'valibot';
import type { Service } from '../../../../application/service.ts';
import { type inviteBrowser, registerBrowser, renewBrowser } from '../../../../application/sessions/bind-browser.ts';
import { httpFailure } from '../../errors/exceptions.ts';
import { originOf } from '../../request/client.ts';
import { BOUND_COOKIE, httpOnlyCookie, type SessionCookies } from '../../request/cookies.ts';
import type { CookieSettings } from '../../request/settings.ts';
import { NO_STORE, type Route, route } from '../../routing/define-route.ts';

type BrowserSessionSettings = Pick<CookieSettings, 'sameSite' | 'maxAge'> & {
  readonly baseUrl: string;
  /** Origins whose pages refresh. */
  readonly initiators: readonly string[];
};

const SAME_SITE = { lax: 'Lax', strict: 'Strict', none: 'None' } as const;

/**
 * What Device Bound Session Credentials (W3C) have in headers, in the cookie and in the description of a browser's session. Only requests
 * that renew the session wait for the cookie.
 */
export const browserSession = (
  { baseUrl, initiators, ...settings }: BrowserSessionSettings,
  invitationOf: ReturnType<typeof inviteBrowser>,
) => {
  const { origin, hostname, pathname } = new URL(baseUrl);
  const below = (path: string) => `${pathname.replace(/\/$/, '')}${path}`;
  const [path, deviceUrl] = [below('/auth'), below('/auth/device')];
  const renewing = [below('/auth/refresh-token'), below('/auth/continue')];
  const attributes = `Path=${path}; Secure; HttpOnly; SameSite=${SAME_SITE[settings.sameSite]}`;
  return {
    /** Milliseconds that a bound cookie proves the key. */
    lifetime: settings.maxAge,
    cookie: httpOnlyCookie(BOUND_COOKIE, { ...settings, path, secure: true }),
    /** Invites the browser to register a key for the session that this response opens. */
    invite: (ctx: Context, opened: { readonly sessionId: string; readonly user: { readonly id: string } }): void => {
      const { challenge, authorization } = invitationOf({ userId: opened.user.id, sessionId: opened.sessionId });
      const parameters = `path="${deviceUrl}";challenge="${challenge}";authorization="${authorization}"`;
      ctx.set('Secure-Session-Registration', `(ES256);${parameters}`);
    },
    /** The description of a browser's session: "JSON Session Instruction Format". */
    instructions: (identifier: string) => ({
      session_identifier: identifier,
      refresh_url: deviceUrl,
      scope: {
        origin,
        include_site: false,
        scope_specification: [
          { type: 'exclude' as const, domain: '*', path: '/' },
          ...renewing.map((each) => ({ type: 'include' as const, domain: hostname, path: each })),
        ],
      },
      credentials: [{ type: 'cookie' as const, name: BOUND_COOKIE, attributes }],
      allowed_refresh_initiators: [...new Set(initiators.map((each) => new URL(each).hostname))],
    }),
  };
};

export type BrowserSession = ReturnType<typeof browserSession>;

/** A string of a structured field (RFC 9651 §3.3.3), or without its quotes, as Chrome sends it; empty unless it can be a signed value or a JWT. */
const browserText = (ctx: Context, header: string): string => /^"?([\w.-]+)"?$/.exec(ctx.get(header))?.[1] ?? '';

const challengeHeader = (challenge: string, identifier: string) => ({
  'Secure-Session-Challenge': `"${challenge}";id="${identifier}"`,
});

/** W3C Device Bound Session Credentials, "JSON Session Instruction Format". */
const Instructions = v.pipe(
  v.object({
    session_identifier: v.string(),
    refresh_url: v.string(),
    scope: v.object({
      origin: v.string(),
      include_site: v.boolean(),
      scope_specification: v.array(
        v.object({ type: v.picklist(['include', 'exclude']), domain: v.string(), path: v.string() }),
      ),
    }),
    credentials: v.array(v.object({ type: v.literal('cookie'), name: v.string(), attributes: v.string() })),
    allowed_refresh_initiators: v.array(v.string()),
  }),
  v.title('BrowserSession'),
  v.examples([
    {
      session_identifier: '01M8669SHX7K33XCV405KNN3B0.01M8669SHX7K33XCV405KNN3B1.mx4cyr98.8_tV….tSeR…',
      refresh_url: '/auth/device',
      scope: {
        origin: 'https://auth.example.org',
        include_site: false,
        scope_specification: [
          { type: 'exclude', domain: '*', path: '/' },
          { type: 'include', domain: 'auth.example.org', path: '/auth/refresh-token' },
          { type: 'include', domain: 'auth.example.org', path: '/auth/continue' },
        ],
      },
      credentials: [
        {
          type: 'cookie',
          name: 'refresh_binding',
          attributes: 'Path=/auth; Secure; HttpOnly; SameSite=Lax',
        },
      ],
      allowed_refresh_initiators: ['app.example.org'],
    },
  ]),
);

/** Called by browsers, not by pages. A browser forgets its session after any 4xx but 403, 407 and 429. */
export const browserRoutes = (deps: Service, refreshCookie: SessionCookies, browser: BrowserSession): Route[] => {
  const bindDeps = { ...deps, boundCookieLifetime: browser.lifetime };
  const useCases = { register: registerBrowser(bindDeps), renew: renewBrowser(bindDeps) };
  return [
    route(
      {
        name: 'bind-browser',
        tag: 'sessions',
        summary: 'For browsers: register a key of Device Bound Session Credentials, and renew the cookie that shows it',
        method: 'POST',
        path: '/auth/device',
        cookie: { reads: 'optional', writes: 'binds' },
        auth: 'public',
        response: { data: Instructions, unwrapped: { type: 'application/json', cacheControl: NO_STORE } },
        errors: ['AUTH_DEVICE_UNPROVEN', 'AUTH_FAILED', 'DB_QUERY_FAILED'],
      },
      async (_input, ctx) => {
        const proof = browserText(ctx, 'Secure-Session-Response');
        const identifier = browserText(ctx, 'Sec-Secure-Session-Id');
        if (identifier === '') return browser.instructions(await useCases.register(proof));
        const { challenge, cookie } = await useCases.renew({
          identifier,
          proof: proof === '' ? null : proof,
          refreshTokens: refreshCookie.read(ctx),
          origin: originOf(ctx),
        });
        const headers = challengeHeader(challenge, identifier);
        if (cookie === null) throw httpFailure(403, { reason: 'the browser has to sign a challenge', headers });
        ctx.set(headers);
        browser.cookie.set(ctx, cookie);
        return browser.instructions(identifier);
      },
    ),
  ];
};

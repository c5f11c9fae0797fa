import { stringifySetCookie } from 'cookie';
import type { Context } from 'koa';
import type { IssuedAccess, TokenPair } from '../../../application/sessions/tokens.ts';
import { LOGIN_CODE_LIFETIME } from '../../../domain/login-code.ts';
import { REMEMBERED_FOR } from '../../../domain/remembered-device.ts';
import { systemClock } from '../../clock/system.ts';
import type { AccessCookieSettings, CookieSettings } from './settings.ts';

/** Milliseconds. */
export const PAGE_STATE_LIFETIME = 60_000;
/** Milliseconds. */
export const PAGE_VISITOR_LIFETIME = 10 * 60_000;

export const REFRESH_COOKIE = 'refresh_token';
/** Shows for minutes that the browser has the key of its session (ADR 0006). */
export const BOUND_COOKIE = 'refresh_binding';

/** Shows for minutes that the browser has shown the first factor of a user, and has to show the second (ADR 0009), or has asked for a code. */
const PENDING_LOGIN_COOKIE = 'login_pending';

/** Shows that a user need not show the second factor on this device (ADR 0009). */
const REMEMBERED_DEVICE_COOKIE = 'remembered_device';

/** What a form hands to the page that shows its result (ADR 0024). */
export const PAGE_STATE_COOKIE = 'page_state';

/** Shows for minutes that a visitor has proven the key of the session to a page of the service (ADR 0024). */
const PAGE_VISITOR_COOKIE = 'page_visitor';

/** That the offer of a passkey was shown lately. */
const PASSKEY_OFFERED_COOKIE = 'passkey_offered';

/** The form by which somebody has logged in, and not who. */
const USED_LAST_COOKIE = 'used_last';

/** The language that somebody has chosen on a page. Its name has no prefix: nothing depends on who has set it. */
export const PAGE_LOCALE_COOKIE = 'page_locale';

/** What a browser keeps while its user is at a provider (ADR 0027): one for each start, named by a hash of its state. */
export const START_COOKIE = 'sign_in_';

/** Shows for an hour that an operator has logged in to the back office (ADR 0031). */
export const OFFICE_COOKIE = 'office_session';

/** All that the service reads: parts of a regular expression. */
export const COOKIES = [
  ...[REFRESH_COOKIE, BOUND_COOKIE, PENDING_LOGIN_COOKIE, REMEMBERED_DEVICE_COOKIE],
  ...[
    PAGE_STATE_COOKIE,
    PAGE_VISITOR_COOKIE,
    PAGE_LOCALE_COOKIE,
    PASSKEY_OFFERED_COOKIE,
    USED_LAST_COOKIE,
    OFFICE_COOKIE,
  ],
  `${START_COOKIE}[\\w-]{22}`,
] as const;

/** Of the names that are read, besides none. */
export const PREFIXES = ['__Http-', '__Host-Http-'] as const;

/** Reads, sets and clears a cookie. The attributes are always the same, so that each cookie replaces the last. */
export const httpOnlyCookie = (plainName: string, { maxAge, prefix = '', ...attributes }: CookieSettings) => {
  const name = prefix + plainName;
  const write = (ctx: Context, value: string, age: number): void => {
    ctx.append(
      'Set-Cookie',
      stringifySetCookie({
        name,
        value,
        httpOnly: true,
        ...attributes,
        maxAge: Math.floor(age / 1000),
        expires: age === 0 ? new Date(0) : new Date(systemClock.now() + age),
      }),
    );
  };
  const read = (ctx: Context): readonly string[] => ctx.request.cookies.get(name) ?? [];
  return {
    read,
    /** None if a page of another site caused the request. */
    readOwn: (ctx: Context): readonly string[] => (isCrossSite(ctx) ? [] : read(ctx)),
    set: (ctx: Context, value: string): void => write(ctx, value, maxAge),
    clear: (ctx: Context): void => write(ctx, '', 0),
  };
};

export type HttpOnlyCookie = ReturnType<typeof httpOnlyCookie>;

/**
 * The cookies of a session: that of the refresh token, and that of the access token for servers that render pages.
 * @param access `null`: there is none.
 */
export const sessionCookies = (refresh: CookieSettings, access: AccessCookieSettings | null) => {
  const refreshCookie = httpOnlyCookie(REFRESH_COOKIE, refresh);
  const accessCookie = access && httpOnlyCookie(access.name, access);
  const setAccess = (ctx: Context, { accessToken, cookieToken = accessToken }: IssuedAccess): void =>
    accessCookie?.set(ctx, cookieToken);
  return {
    /** The refresh tokens of a request. */
    read: refreshCookie.read,
    readOwn: refreshCookie.readOwn,
    set: (ctx: Context, { refreshToken, ...access }: TokenPair): void => {
      refreshCookie.set(ctx, refreshToken);
      setAccess(ctx, access);
    },
    setAccess,
    clearAccess: (ctx: Context): void => accessCookie?.clear(ctx),
    clear: (ctx: Context): void => {
      refreshCookie.clear(ctx);
      accessCookie?.clear(ctx);
    },
  };
};

export type SessionCookies = ReturnType<typeof sessionCookies>;

/** The cookies of a log-in with two steps, with the attributes of the refresh cookie. What waits for a second factor ends before its cookie. @param settings of that one. */
export const loginCookies = (settings: CookieSettings) => ({
  pendingLogin: httpOnlyCookie(PENDING_LOGIN_COOKIE, { ...settings, maxAge: LOGIN_CODE_LIFETIME }),
  rememberedDevice: httpOnlyCookie(REMEMBERED_DEVICE_COOKIE, { ...settings, maxAge: REMEMBERED_FOR }),
});

/** The cookies of the service's own pages. @param settings of the refresh cookie. */
export const pageCookies = (settings: CookieSettings) => ({
  pageState: httpOnlyCookie(PAGE_STATE_COOKIE, { ...settings, maxAge: PAGE_STATE_LIFETIME }),
  pageVisitor: httpOnlyCookie(PAGE_VISITOR_COOKIE, { ...settings, maxAge: PAGE_VISITOR_LIFETIME }),
  passkeyOffered: httpOnlyCookie(PASSKEY_OFFERED_COOKIE, { ...settings, maxAge: REMEMBERED_FOR }),
  pageLocale: httpOnlyCookie(PAGE_LOCALE_COOKIE, { ...settings, prefix: '', maxAge: 12 * REMEMBERED_FOR }),
  usedLast: httpOnlyCookie(USED_LAST_COOKIE, { ...settings, maxAge: 12 * REMEMBERED_FOR }),
});

/** Whether a page of another site caused the request. Stage 5 has already checked a request that has an Origin. */
export const isCrossSite = (ctx: Context): boolean =>
  ctx.get('Sec-Fetch-Site').toLowerCase() === 'cross-site' && ctx.get('Origin') === '';

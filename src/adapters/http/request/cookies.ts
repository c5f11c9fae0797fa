import { stringifySetCookie } from 'cookie';
import type { Context } from 'koa';
import type { RandomSecrets } from '../../../application/ports/secrets.ts';
import type { IssuedAccess, TokenPair } from '../../../application/sessions/tokens.ts';
import { DEVICE_LIFETIME } from '../../../domain/device.ts';
import { AppError } from '../../../domain/errors/app-error.ts';
import { LOGIN_CODE_LIFETIME } from '../../../domain/login-code.ts';
import { systemClock } from '../../clock/system.ts';
import type { AccessCookieSettings, CookieSettings } from './settings.ts';

export const PAGE_STATE_LIFETIME = 60_000;
export const PAGE_VISITOR_LIFETIME = 10 * 60_000;

export const REFRESH_COOKIE = 'refresh_token';
/** Proves for some minutes that the browser has the key of its session (ADR 0006). */
export const BOUND_COOKIE = 'refresh_binding';
/** A log-in that still needs its second factor, or the code from a mail (ADR 0009). */
const PENDING_LOGIN_COOKIE = 'login_pending';
/** Lets a user log in on this device without the second factor (ADR 0009), or without the code for a new device (ADR 0008). */
const REMEMBERED_DEVICE_COOKIE = 'remembered_device';
/** What the next page says, such as the result of a form (ADR 0024). */
export const PAGE_STATE_COOKIE = 'page_state';
/** Proves for ten minutes that the browser has the key of the session (ADR 0024). */
const PAGE_VISITOR_COOKIE = 'page_visitor';
const PASSKEY_OFFERED_COOKIE = 'passkey_offered';
/** The form by which a log-in was last begun in this browser, and the provider. It does not tell who logged in. */
const USED_LAST_COOKIE = 'used_last';
/** The language that was chosen on a page. It never has a prefix, since it need not be protected against other hosts of the domain. */
export const PAGE_LOCALE_COOKIE = 'page_locale';
/** The beginning of the name of a cookie with what was begun at a provider (ADR 0027) or in the back office. It ends with a hash of the `state`. */
const START_COOKIE = 'sign_in_';
/** The session of an operator in the back office (ADR 0031). */
export const OFFICE_COOKIE = 'office_session';

/** Regular expressions for the names of cookies that the service reads, without prefixes. */
export const COOKIE_NAMES = [
  ...[REFRESH_COOKIE, BOUND_COOKIE, PENDING_LOGIN_COOKIE, REMEMBERED_DEVICE_COOKIE, PAGE_STATE_COOKIE, OFFICE_COOKIE],
  ...[PAGE_VISITOR_COOKIE, PAGE_LOCALE_COOKIE, PASSKEY_OFFERED_COOKIE, USED_LAST_COOKIE, `${START_COOKIE}[\\w-]{22}`],
] as const;

/** The prefixes that names of cookies may have (RFC 6265bis §4.1.3): browsers that know them let no script set such a cookie. */
export const COOKIE_PREFIXES = ['__Http-', '__Host-Http-'] as const;

/** Reads, sets and clears a cookie, always with the same name, domain and path, so that each `Set-Cookie` replaces the cookie. */
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
    /** The values of the cookie; none if the request `isCrossSite`. */
    readOwn: (ctx: Context): readonly string[] => (isCrossSite(ctx) ? [] : read(ctx)),
    set: (ctx: Context, value: string): void => write(ctx, value, maxAge),
    clear: (ctx: Context): void => write(ctx, '', 0),
  };
};

export type HttpOnlyCookie = ReturnType<typeof httpOnlyCookie>;

/**
 * The cookies of the refresh token and of the access token.
 * @param access `null`: the access token has no cookie
 * @param clearedData the kinds of other data of the site that browsers clear with the cookies (`Clear-Site-Data`)
 */
export const sessionCookies = (
  refresh: CookieSettings,
  access: AccessCookieSettings | null,
  clearedData: readonly string[],
) => {
  const refreshCookie = httpOnlyCookie(REFRESH_COOKIE, refresh);
  const accessCookie = access && httpOnlyCookie(access.name, access);
  const setAccess = (ctx: Context, { accessToken, cookieToken = accessToken }: IssuedAccess): void =>
    accessCookie?.set(ctx, cookieToken);
  return {
    read: refreshCookie.read,
    readOwn: refreshCookie.readOwn,
    set: (ctx: Context, { refreshToken, ...access }: TokenPair) => {
      refreshCookie.set(ctx, refreshToken);
      setAccess(ctx, access);
      return { accessToken: access.accessToken };
    },
    setAccess,
    clearAccess: (ctx: Context): void => accessCookie?.clear(ctx),
    clear: (ctx: Context): void => {
      refreshCookie.clear(ctx);
      accessCookie?.clear(ctx);
      if (clearedData.length > 0) ctx.set('Clear-Site-Data', clearedData.map((each) => `"${each}"`).join(', '));
    },
  };
};

export type SessionCookies = ReturnType<typeof sessionCookies>;

/** The cookies of a log-in with two steps. @param settings of the refresh cookie */
export const loginCookies = (settings: CookieSettings) => ({
  pendingLogin: httpOnlyCookie(PENDING_LOGIN_COOKIE, { ...settings, maxAge: LOGIN_CODE_LIFETIME }),
  rememberedDevice: httpOnlyCookie(REMEMBERED_DEVICE_COOKIE, { ...settings, maxAge: DEVICE_LIFETIME }),
});

/** The cookies of the service's own pages. @param settings of the refresh cookie */
export const pageCookies = (settings: CookieSettings) => ({
  pageState: httpOnlyCookie(PAGE_STATE_COOKIE, { ...settings, maxAge: PAGE_STATE_LIFETIME }),
  pageVisitor: httpOnlyCookie(PAGE_VISITOR_COOKIE, { ...settings, maxAge: PAGE_VISITOR_LIFETIME }),
  passkeyOffered: httpOnlyCookie(PASSKEY_OFFERED_COOKIE, { ...settings, maxAge: DEVICE_LIFETIME }),
  pageLocale: httpOnlyCookie(PAGE_LOCALE_COOKIE, { ...settings, prefix: '', maxAge: 12 * DEVICE_LIFETIME }),
  usedLast: httpOnlyCookie(USED_LAST_COOKIE, { ...settings, maxAge: 12 * DEVICE_LIFETIME }),
});

/** Whether a page of another site caused the request. A request with an `Origin` does not count: stage 5 checks the `Origin`. */
export const isCrossSite = (ctx: Context): boolean =>
  ctx.get('sec-fetch-site').toLowerCase() === 'cross-site' && ctx.get('origin') === '';

/** Cookies of `startCookies` that a browser may have at once, such as for log-ins in several tabs. */
const MAX_STARTS = 5;
/** Characters of all these cookies. More could make the `Cookie` header too long for the service. */
const ALL_STARTS_MAX_LENGTH = 6_000;
/** Characters. Browsers refuse a cookie if its name and value have more than 4,096. */
const START_MAX_LENGTH = 4_000;
const START_TOO_LONG = { field: 'body', message: 'must have at most 2500 characters', code: 'too_long' } as const;

/** In place of a state, for the cookie that keeps an identity for a later log-in, which may link it to the account. */
export const KEPT_IDENTITY_STATE = 'kept';

/** The cookies of what was begun, one for each state. Instead of `Strict`, they are `Lax`: browsers have to send them after a redirect from another site. */
export const startCookies = (settings: CookieSettings, maxAge: number, { hashOf }: Pick<RandomSecrets, 'hashOf'>) => {
  const sameSite = settings.sameSite === 'strict' ? 'lax' : settings.sameSite;
  const cookieNamed = (name: string) => httpOnlyCookie(name, { ...settings, sameSite, maxAge });
  const cookieOf = (state: string) => cookieNamed(START_COOKIE + hashOf(state).slice(0, 22));
  const { prefix = '' } = settings;
  return {
    /** Adds a cookie, and clears the oldest above the limits. @throws AppError CLIENT_PARAMS_VALIDATION_FAILED if the cookie is too long for browsers */
    add: (ctx: Context, state: string, sealed: string): void => {
      if (sealed.length > START_MAX_LENGTH)
        throw new AppError('CLIENT_PARAMS_VALIDATION_FAILED', { details: [START_TOO_LONG] });
      // The newest first: browsers send the oldest cookies first (RFC 6265 §5.4).
      const oldCookies = [...ctx.request.cookies].filter(([name]) => name.startsWith(prefix + START_COOKIE)).reverse();
      let length = sealed.length;
      for (const [at, [name, texts]] of oldCookies.entries()) {
        length += texts.join('').length;
        if (at >= MAX_STARTS - 1 || length > ALL_STARTS_MAX_LENGTH) cookieNamed(name.slice(prefix.length)).clear(ctx);
      }
      cookieOf(state).set(ctx, sealed);
    },
    cookieOf,
    /** Returns the values of the cookie for a state, and clears the cookie. */
    pop: (ctx: Context, state: string): readonly string[] => {
      const cookie = cookieOf(state);
      const texts = cookie.read(ctx);
      if (texts.length > 0) cookie.clear(ctx);
      return texts;
    },
  };
};

export type StartCookies = ReturnType<typeof startCookies>;

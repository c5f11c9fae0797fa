import { stringifySetCookie } from 'cookie';
import type { Context } from 'koa';
import type { RandomSecrets } from '../../../application/ports/secrets.ts';
import type { IssuedAccess, TokenPair } from '../../../application/sessions/tokens.ts';
import { AppError } from '../../../domain/errors/app-error.ts';
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

const PASSKEY_OFFERED_COOKIE = 'passkey_offered';

/** The form by which somebody has logged in, and not who. */
const USED_LAST_COOKIE = 'used_last';

/** The language that somebody has chosen on a page. Its name has no prefix: nothing depends on who has set it. */
export const PAGE_LOCALE_COOKIE = 'page_locale';

/** What a browser keeps while its user is at a provider (ADR 0027): one for each start, named by a hash of its state. */
const START_COOKIE = 'sign_in_';

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
    read: refreshCookie.read,
    readOwn: refreshCookie.readOwn,
    /** @returns what the body has. */
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

/** So many sign-ins may a browser have begun at once: in other tabs, or before the user went back. */
const AT_ONCE = 5;
/** Characters of all of them: more could make requests too long for the service. */
const MAX_LENGTH = 6_000;
/** Characters. Browsers drop a cookie of more than 4,096 with its name. */
const MAX_LENGTH_OF_ONE = 4_000;
const TOO_LONG = { field: 'body', message: 'must have at most 2500 characters', code: 'too_long' } as const;

/** In place of a state: what is linked by the next log-in. */
export const KEPT_STATE = 'kept';

/**
 * The cookies of sign-ins that are under way: one for each, so that two tabs do not end each other's. With the attributes of the refresh cookie, but
 * the browser has to send them when it comes back from the provider, which is another site.
 */
export const startCookies = (settings: CookieSettings, maxAge: number, { hashOf }: Pick<RandomSecrets, 'hashOf'>) => {
  const sameSite = settings.sameSite === 'strict' ? 'lax' : settings.sameSite;
  const cookieNamed = (name: string) => httpOnlyCookie(name, { ...settings, sameSite, maxAge });
  const cookieOf = (state: string) => cookieNamed(START_COOKIE + hashOf(state).slice(0, 22));
  const { prefix = '' } = settings;
  return {
    /** @throws AppError CLIENT_PARAMS_VALIDATION_FAILED when the browser could not keep it */
    add: (ctx: Context, state: string, sealed: string): void => {
      if (sealed.length > MAX_LENGTH_OF_ONE)
        throw new AppError('CLIENT_PARAMS_VALIDATION_FAILED', { details: [TOO_LONG] });
      // Browsers send the oldest ones first (RFC 6265 §5.4).
      const earlier = [...ctx.request.cookies].filter(([name]) => name.startsWith(prefix + START_COOKIE)).reverse();
      let length = sealed.length;
      for (const [at, [name, texts]] of earlier.entries()) {
        length += texts.join('').length;
        if (at >= AT_ONCE - 1 || length > MAX_LENGTH) cookieNamed(name.slice(prefix.length)).clear(ctx);
      }
      cookieOf(state).set(ctx, sealed);
    },
    /** What the browser keeps for a state, if anything. It forgets it, whatever comes of it. */
    take: (ctx: Context, state: string): readonly string[] => {
      const cookie = cookieOf(state);
      const texts = cookie.read(ctx);
      if (texts.length > 0) cookie.clear(ctx);
      return texts;
    },
  };
};

export type StartCookies = ReturnType<typeof startCookies>;

import { stringifySetCookie } from 'cookie';
import type { Context } from 'koa';

/** SPEC "Refresh cookie". */
export type CookieSettings = {
  readonly path: string;
  readonly sameSite: 'lax' | 'strict' | 'none';
  readonly secure: boolean;
  /** Milliseconds. */
  readonly maxAge: number;
};

export const REFRESH_COOKIE = 'refresh_token';
/** Shows for minutes that the browser has the key of its session (ADR 0057). */
export const BOUND_COOKIE = 'refresh_binding';

/** Shows for minutes that the browser has shown the password of a user, and has to show the second factor (ADR 0058). */
export const PENDING_LOGIN_COOKIE = 'login_pending';

/** Reads, sets and clears a cookie. The attributes are always the same, so that each cookie replaces the last. */
export const httpOnlyCookie = (name: string, { maxAge, ...attributes }: CookieSettings) => {
  const write = (ctx: Context, value: string, age: number): void => {
    ctx.append(
      'Set-Cookie',
      stringifySetCookie({
        name,
        value,
        httpOnly: true,
        ...attributes,
        maxAge: Math.floor(age / 1000),
        expires: age === 0 ? new Date(0) : new Date(Date.now() + age),
      }),
    );
  };
  return {
    read: (ctx: Context): readonly string[] => ctx.request.cookies.get(name) ?? [],
    set: (ctx: Context, value: string): void => write(ctx, value, maxAge),
    clear: (ctx: Context): void => write(ctx, '', 0),
  };
};

export type HttpOnlyCookie = ReturnType<typeof httpOnlyCookie>;

export const refreshCookie = (settings: CookieSettings) => httpOnlyCookie(REFRESH_COOKIE, settings);

/** With the attributes of the refresh cookie. @param settings of that one. @param maxAge milliseconds. */
export const pendingLoginCookie = (settings: CookieSettings, maxAge: number) =>
  httpOnlyCookie(PENDING_LOGIN_COOKIE, { ...settings, maxAge });

export type RefreshCookie = HttpOnlyCookie;

/** Whether a page of another site caused the request. Stage 5 has already checked a request that has an Origin. */
export const isCrossSite = (ctx: Context): boolean =>
  ctx.get('Sec-Fetch-Site').toLowerCase() === 'cross-site' && ctx.get('Origin') === '';

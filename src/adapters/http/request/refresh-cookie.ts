import { stringifySetCookie } from 'cookie';
import type { Context } from 'koa';

/** SPEC "Refresh cookie". */
export type RefreshCookieSettings = {
  readonly path: string;
  readonly sameSite: 'lax' | 'strict' | 'none';
  readonly secure: boolean;
  /** Milliseconds. */
  readonly maxAge: number;
};

export const REFRESH_COOKIE = 'refresh_token';

/** Reads, sets and clears the cookie of the refresh token, always with the same attributes, so that one replaces the other. */
export const refreshCookie = ({ maxAge, ...attributes }: RefreshCookieSettings) => {
  const write = (ctx: Context, value: string, age: number): void => {
    ctx.set(
      'Set-Cookie',
      stringifySetCookie({
        name: REFRESH_COOKIE,
        value,
        httpOnly: true,
        ...attributes,
        maxAge: Math.floor(age / 1000),
        expires: age === 0 ? new Date(0) : new Date(Date.now() + age),
      }),
    );
  };
  return {
    read: (ctx: Context): readonly string[] => ctx.request.cookies.get(REFRESH_COOKIE) ?? [],
    set: (ctx: Context, token: string): void => write(ctx, token, maxAge),
    clear: (ctx: Context): void => write(ctx, '', 0),
  };
};

export type RefreshCookie = ReturnType<typeof refreshCookie>;

/** Whether a page of another site caused the request. A request with an Origin is not foreign: stage 5 has checked that. */
export const isForeign = (ctx: Context): boolean =>
  ctx.get('Sec-Fetch-Site').toLowerCase() === 'cross-site' && ctx.get('Origin') === '';

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

/** Reads, sets and clears the cookie of the refresh token. The attributes are always the same, so that each cookie replaces the last. */
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

/** Whether a page of another site caused the request. Stage 5 has already checked a request that has an Origin. */
export const isCrossSite = (ctx: Context): boolean =>
  ctx.get('Sec-Fetch-Site').toLowerCase() === 'cross-site' && ctx.get('Origin') === '';

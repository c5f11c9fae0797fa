import { parseCookie } from 'cookie';
import type { Middleware } from 'koa';
import { REFRESH_COOKIE } from '../request/refresh-cookie.ts';

/** A browser sends one for each domain and path it was set for; what comes behind the first eight is not looked at. */
const MAX_VALUES = 8;

/** The pairs of the one cookie that the service reads. Linear in the length of the header: a run of blanks is scanned twice at most. */
const OURS = new RegExp(`(?:^|;)([ \\t]*${REFRESH_COOKIE}[ \\t]*=[^;]*)`, 'g');

/** Stage 2. Cookies of other names are passed over: it comes before the rate limit, and nobody asks for them. ADR 0003. */
export const cookieParsing = (): Middleware =>
  async function cookieParsing(ctx, next) {
    const values = valuesIn(ctx.get('Cookie'));
    ctx.request.cookies = new Map(values.length === 0 ? [] : [[REFRESH_COOKIE, values]]);
    await next();
  };

/** The library keeps one cookie of a name, so it is given one pair at a time. */
const valuesIn = (header: string): string[] => {
  const values: string[] = [];
  for (const [, pair = ''] of header.matchAll(OURS)) {
    values.push(parseCookie(pair)[REFRESH_COOKIE] ?? '');
    if (values.length === MAX_VALUES) break;
  }
  return values;
};

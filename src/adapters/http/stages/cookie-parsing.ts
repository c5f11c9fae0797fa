import { parseCookie } from 'cookie';
import type { Middleware } from 'koa';

/** Stage 2. The parser keeps the first cookie of a name; each pair goes through it alone, so that none is lost. */
export const cookieParsing = (): Middleware =>
  async function cookieParsing(ctx, next) {
    const cookies = new Map<string, string[]>();
    for (const pair of ctx.get('Cookie').split(';')) {
      for (const [name, value = ''] of Object.entries(parseCookie(pair))) {
        cookies.set(name, [...(cookies.get(name) ?? []), value]);
      }
    }
    ctx.request.cookies = cookies;
    await next();
  };

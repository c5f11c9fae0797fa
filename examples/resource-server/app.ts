import cors from '@koa/cors';
import Koa from 'koa';
import { type IsEnded, Refused, type Trust, verifier } from './authenticate.ts';
import { hasRole } from './roles.ts';

/**
 * An API with one answer: whom the access token is about. Below `/admin` it is for those who have the role `admin`.
 * @param origins of the pages that may call it from a browser
 * @param isEnded whether the session of a token has ended; without it a token counts until it expires
 */
export const createApp = (trust: Trust, origins: readonly string[] = [], isEnded?: IsEnded): Koa => {
  const authenticate = verifier(trust, isEnded);
  const app = new Koa();

  // Comes first: a preflight has no token, and a page has to be able to read a 401.
  app.use(
    cors({
      origin: (ctx) => origins.find((origin) => origin === ctx.get('Origin')) ?? '',
      allowHeaders: ['Authorization', 'Content-Type'],
      exposeHeaders: ['Retry-After'],
    }),
  );

  app.use(async (ctx, next) => {
    try {
      ctx.state.claims = await authenticate(ctx.get('Authorization'));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      // A 503 is ours to repair: Koa prints it. A 401 is the client's.
      if (error.status === 503) app.emit('error', error, ctx);
      ctx.status = error.status;
      ctx.set(error.headers);
      ctx.body = { error: error.message };
      return;
    }
    await next();
  });

  app.use(async (ctx, next) => {
    if (/^\/admin(?:\/|$)/.test(ctx.path) && !hasRole(ctx.state.claims, 'admin')) {
      // Not 401: another token of this user would not help.
      ctx.status = 403;
      ctx.body = { error: 'the role admin is missing' };
      return;
    }
    await next();
  });

  app.use((ctx) => {
    const { sub, user } = ctx.state.claims;
    ctx.body = { sub, user };
  });
  return app;
};

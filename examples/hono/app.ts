import { type Context, Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { ServerAuth, User } from 'tandem-client';
import { accountPage, loginPage, welcomePage } from './pages.ts';

/** @param service the address of Tandem as browsers know it */
export const createApp = (auth: ServerAuth, service: string): Hono<{ Variables: { user: User } }> => {
  const app = new Hono<{ Variables: { user: User } }>();

  // Pages differ from visitor to visitor, so nothing keeps them.
  app.use(async (c: Context, next) => {
    await next();
    c.header('Cache-Control', 'private, no-store');
  });

  app.get('/', async (c) => {
    // This page needs no user: it is shown without one while Tandem does not answer.
    const user = await auth.getUser(c.req.raw).catch(() => null);
    return c.html(welcomePage(user));
  });
  app.get('/login', (c) => c.html(loginPage(service)));

  const usersAlone = createMiddleware<{ Variables: { user: User } }>(async (c, next) => {
    const user = await auth.requireUser(c.req.raw);
    // What gets the browser an access token, or the visitor a log-in.
    if (user instanceof Response) return user;
    c.set('user', user);
    return next();
  });
  app.get('/account', usersAlone, (c) => c.html(accountPage(c.get('user'), service)));
  return app;
};

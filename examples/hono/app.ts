import { type Context, Hono } from 'hono';
import { csrf } from 'hono/csrf';
import { createMiddleware } from 'hono/factory';
import type { ServerAuth, User } from 'tandem-client';
import { accountPage, welcomePage } from './pages.ts';

export const createApp = (auth: ServerAuth): Hono<{ Variables: { user: User } }> => {
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

  const usersAlone = createMiddleware<{ Variables: { user: User } }>(async (c, next) => {
    const user = await auth.requireUser(c.req.raw);
    // What gets the browser an access token, or the visitor a log-in.
    if (user instanceof Response) return user;
    c.set('user', user);
    return next();
  });
  app.get('/account', usersAlone, (c) => {
    const settings = auth.linkTo('account', c.req.raw);
    const logOut = auth.linkTo('log-out', c.req.raw, { to: '/' });
    return c.html(accountPage(c.get('user'), { settings, logOut }, notes.get(c.get('user').id) ?? ''));
  });
  // In memory, as this is an example.
  const notes = new Map<string, string>();
  app.post('/account', csrf(), usersAlone, async (c) => {
    const { note } = await c.req.parseBody();
    notes.set(c.get('user').id, `${note}`.slice(0, 1_000));
    return c.redirect('/account', 303);
  });
  return app;
};

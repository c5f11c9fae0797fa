import { randomUUID } from 'node:crypto';
import cors from '@koa/cors';
import Koa, { type Context } from 'koa';

type Adoption = {
  /** The id in Tandem of a user of this system: from the file of `--map`. */
  readonly idOf: (user: string) => string | undefined;
  readonly sign: (userId: string) => Promise<string>;
  /** The only origin whose pages may ask. */
  readonly frontEnd: string;
};

/** The system that a team leaves: a log-in that needs no password here, sessions in its memory, and the route of the move. */
export const createFormerSystem = ({ idOf, sign, frontEnd }: Adoption): Koa => {
  const sessions = new Map<string | undefined, string>();
  const userOf = (ctx: Context) => sessions.get(ctx.cookies.get('former_session'));

  const logIn = (ctx: Context): void => {
    const id = randomUUID();
    sessions.set(id, `${ctx.query.user}`);
    ctx.cookies.set('former_session', id, { httpOnly: true, sameSite: 'lax' });
    ctx.body = 'Logged in. Now open the front end.';
  };

  const adopt = async (ctx: Context): Promise<void> => {
    const user = userOf(ctx);
    const id = user === undefined ? undefined : idOf(user);
    // Other sites could not read the answer; this one does not sign for them either.
    if (ctx.get('Origin') !== frontEnd) ctx.status = 403;
    else if (id === undefined) ctx.status = 401;
    else {
      ctx.set('Cache-Control', 'no-store');
      ctx.body = { assertion: await sign(id) };
    }
  };

  const app = new Koa();
  app.use(cors({ origin: frontEnd, credentials: true }));
  app.use(async (ctx) => {
    if (ctx.method === 'POST' && ctx.path === '/log-in') logIn(ctx);
    else if (ctx.method === 'POST' && ctx.path === '/adoption') await adopt(ctx);
  });
  return app;
};

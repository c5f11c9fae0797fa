import type { FastifyInstance, FastifyReply, FastifySchema } from 'fastify';
import type { Accounts, LogIn, LoginResult, NewUser } from './accounts.ts';
import { REFRESH_LIFETIME_SECONDS } from './environment.ts';

/** The schemas of the routes, or none. */
export type Schemas = Readonly<Partial<Record<'register' | 'logIn' | 'refresh' | 'session' | 'me', FastifySchema>>>;

const COOKIE = {
  httpOnly: true,
  path: '/auth',
  sameSite: 'lax',
  maxAge: REFRESH_LIFETIME_SECONDS,
  secure: true,
} as const;

const unauthorized = (reply: FastifyReply) => reply.code(401).send({ error: 'Unauthorized' });

/** The routes of Tandem that the bench calls, under the same paths. Needs the plugin for cookies. */
export const addRoutes = (app: FastifyInstance, accounts: Accounts, schemas: Schemas): void => {
  const loggedIn = (reply: FastifyReply, result: LoginResult | null, status = 200) => {
    if (result === null) return unauthorized(reply);
    const { refreshToken, ...body } = result;
    return reply.code(status).setCookie('refresh_token', refreshToken, COOKIE).send(body);
  };
  const schemaOf = (name: keyof Schemas) => (schemas[name] === undefined ? {} : { schema: schemas[name] });

  app.post<{ Body: NewUser }>('/auth/register', schemaOf('register'), async ({ body }, reply) =>
    loggedIn(reply, await accounts.register(body), 201),
  );
  app.post<{ Body: LogIn }>('/auth/login', schemaOf('logIn'), async ({ body }, reply) =>
    loggedIn(reply, await accounts.logIn(body)),
  );
  app.post('/auth/refresh-token', schemaOf('refresh'), async ({ cookies }, reply) => {
    const result = await accounts.refresh(cookies.refresh_token ?? '');
    if (result === null) return unauthorized(reply);
    reply.setCookie('refresh_token', result.refreshToken, COOKIE);
    return { accessToken: result.accessToken };
  });
  app.get('/auth/session', schemaOf('session'), async ({ headers }, reply) => {
    const claims = accounts.authenticate(headers.authorization);
    return claims === null ? unauthorized(reply) : { authenticated: true, user: claims.user };
  });
  app.get('/users/me', schemaOf('me'), async ({ headers }, reply) => {
    const claims = accounts.authenticate(headers.authorization);
    const user = claims === null ? null : await accounts.find(claims.sub);
    return user ?? unauthorized(reply);
  });
};

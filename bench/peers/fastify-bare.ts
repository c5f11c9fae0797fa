import cookie from '@fastify/cookie';
import fastify from 'fastify';
import { openAccounts } from './accounts.ts';
import { HOST, port } from './environment.ts';
import { addRoutes } from './fastify-routes.ts';
import { fastJwtTokens } from './tokens/fast-jwt.ts';

/** Fastify with nothing but what the routes need: cookies, tokens, the database. */
const app = fastify({ logger: { level: 'warn' } });
await app.register(cookie);
addRoutes(app, await openAccounts(fastJwtTokens({ isCaching: false })), {});
await app.listen({ host: HOST, port: port() });

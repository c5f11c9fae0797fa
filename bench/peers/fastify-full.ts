import cookie from '@fastify/cookie';
import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import fastify from 'fastify';
import { Redis } from 'ioredis';
import { openAccounts } from './accounts.ts';
import { HOST, port, RATE_LIMIT, redisUrl } from './environment.ts';
import { addRoutes, type Schemas } from './fastify-routes.ts';
import { fastJwtTokens } from './tokens/fast-jwt.ts';

const object = (properties: Record<string, unknown>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const string = { type: 'string' };
const password = { type: 'string', minLength: 8, maxLength: 72 };
const user = object({ id: string, username: string, email: string, createdAt: string, updatedAt: string });
const loggedIn = object({ user, accessToken: string });

const schemas: Schemas = {
  register: {
    body: object({
      username: { type: 'string', minLength: 3, maxLength: 32, pattern: '^[A-Za-z0-9._-]+$' },
      email: { type: 'string', format: 'email', maxLength: 254 },
      password,
    }),
    response: { 201: loggedIn },
  },
  logIn: {
    body: object({ account: { type: 'string', minLength: 1, maxLength: 254 }, password }),
    response: { 200: loggedIn },
  },
  refresh: { response: { 200: object({ accessToken: string }) } },
  session: { response: { 200: object({ authenticated: { type: 'boolean' }, user }) } },
  me: { response: { 200: user } },
};

/** Fastify with everything on that Tandem ships with and Fastify has a plugin for. */
const app = fastify({ logger: { level: 'warn' } });
await app.register(helmet);
await app.register(cors, { origin: ['https://app.example.org'], credentials: true });
await app.register(cookie);
await app.register(rateLimit, {
  max: RATE_LIMIT.max,
  timeWindow: RATE_LIMIT.window * 1_000,
  // As the documentation of the plugin recommends.
  redis: new Redis(redisUrl(), { connectTimeout: 500, maxRetriesPerRequest: 1 }),
});
addRoutes(app, await openAccounts(fastJwtTokens({ isCaching: true })), schemas);
await app.listen({ host: HOST, port: port() });

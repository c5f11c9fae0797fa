import { createServer } from 'node:http';
import bcrypt from 'bcrypt';
import { type BetterAuthOptions, betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { toNodeHandler } from 'better-auth/node';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import {
  BCRYPT_COST,
  DATABASE_POOL_SIZE,
  databaseUrl,
  HOST,
  port,
  RATE_LIMIT,
  REFRESH_LIFETIME_SECONDS,
  redisUrl,
} from './environment.ts';

const redis = new Redis(redisUrl());
/** `INCR`, and an expiry for a key that is new, at once. */
const COUNT = `local n = redis.call('incr', KEYS[1]) if n == 1 then redis.call('expire', KEYS[1], ARGV[1]) end return n`;

const rule = { window: RATE_LIMIT.window, max: RATE_LIMIT.max };

/**
 * Sessions in PostgreSQL. `updateAge: 0` moves a session's expiry at every look at it, unless a request says `disableRefresh`;
 * the signed copy of the session in a cookie serves the route that reads no database, unless it says `disableCookieCache`.
 */
const options = {
  baseURL: `http://${HOST}:${port()}`,
  secret: 'a secret of the bench, which protects nothing',
  logger: { level: 'warn' },
  telemetry: { enabled: false },
  database: new Pool({ connectionString: databaseUrl(), max: DATABASE_POOL_SIZE }),
  emailAndPassword: {
    enabled: true,
    password: {
      hash: (password) => bcrypt.hash(password, BCRYPT_COST),
      verify: ({ hash, password }) => bcrypt.compare(password, hash),
    },
  },
  session: { expiresIn: REFRESH_LIFETIME_SECONDS, updateAge: 0, cookieCache: { enabled: true, maxAge: 900 } },
  rateLimit: {
    enabled: true,
    ...rule,
    customRules: { '/sign-in/*': rule, '/sign-up/*': rule },
    customStorage: {
      consume: async (key, { window, max }) => {
        const count = Number(await redis.eval(COUNT, 1, key, window));
        return { allowed: count <= max, retryAfter: count <= max ? null : window };
      },
    },
  },
} satisfies BetterAuthOptions;

await (await getMigrations(options)).runMigrations();
createServer(toNodeHandler(betterAuth(options))).listen(port(), HOST);

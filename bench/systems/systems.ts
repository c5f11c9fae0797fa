import { fileURLToPath } from 'node:url';
import { testKeys } from '../../test/support/keys.ts';
import { keyVariables } from '../../test/support/processes/environments.ts';
import { BETTER_AUTH, OIDC } from './other-protocols.ts';
import { type System, WORKLOADS } from './system.ts';
import { TOKEN_PAIR } from './token-pair.ts';

/** The keys of all systems of a run. */
export const KEYS = testKeys();
const KEY_VARIABLES = keyVariables(KEYS);

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const peer = (name: string) => ({ name, program: path(`../peers/${name}.ts`), env: KEY_VARIABLES });

/** A limit that is counted for every request and never reached. */
const NEVER_REACHED = '100000000/60';

export const TANDEM: System = {
  name: 'tandem',
  title: 'Tandem',
  program: path('../../src/infrastructure/main.js'),
  env: {
    ...KEY_VARIABLES,
    JWT_REFRESH_COOKIE_SECURE: 'true',
    LOG_LEVEL: 'warn',
    RATE_LIMITS: `global=${NEVER_REACHED},strict=${NEVER_REACHED},public=${NEVER_REACHED}`,
  },
  calls: TOKEN_PAIR,
  workloads: WORKLOADS,
  switchedOn:
    'everything that ships: security headers, CORS, limits in Redis, limits of log-in attempts, validation of requests and responses, envelopes, list of common passwords, reuse detection, log at `warn`; sessions in PostgreSQL',
};

/** Its figures are 1 in the table of ratios. */
export const REFERENCE: System = {
  ...peer('fastify-full'),
  title: 'Fastify, everything on',
  calls: TOKEN_PAIR,
  workloads: WORKLOADS,
  switchedOn:
    '@fastify/helmet, @fastify/cors, @fastify/cookie, @fastify/rate-limit in Redis, schemas of bodies and responses, fast-jwt with its cache, pg with prepared statements, bcrypt, log at `warn`; sessions in PostgreSQL',
};

/** Does nothing: how much the load client can ask for. */
export const LIMIT: System = {
  ...peer('node-http'),
  title: 'bare node:http',
  calls: {
    ...TOKEN_PAIR,
    logIn: (person) => ({ ...TOKEN_PAIR.logIn(person), containing: '' }),
    session: () => ({ method: 'GET', path: '/', headers: { Authorization: `Bearer ${'x'.repeat(500)}` }, status: 200 }),
  },
  workloads: ['refresh', 'session'],
  switchedOn: 'nothing: it answers every request alike',
};

/** In the order in which each round takes them. */
export const SYSTEMS: readonly System[] = [
  TANDEM,
  REFERENCE,
  {
    ...peer('fastify-bare'),
    title: 'Fastify, bare',
    calls: TOKEN_PAIR,
    workloads: WORKLOADS,
    switchedOn:
      '@fastify/cookie, fast-jwt without its cache, pg with prepared statements, bcrypt; sessions in PostgreSQL',
  },
  {
    ...peer('express'),
    title: 'Express',
    calls: TOKEN_PAIR,
    workloads: WORKLOADS,
    switchedOn:
      'helmet, cors, cookie-parser, express-rate-limit in Redis, jsonwebtoken, pg with prepared statements, bcrypt; no schemas, no log; sessions in PostgreSQL',
  },
  {
    ...peer('better-auth'),
    title: 'better-auth',
    calls: BETTER_AUTH,
    workloads: WORKLOADS,
    switchedOn:
      'its own checks of bodies and origins, bcrypt instead of scrypt, limits in Redis, log at `warn`; sessions in PostgreSQL. Refresh moves the expiry of its session; `session` verifies the signed copy in the cookie, `me` reads the database',
  },
  {
    ...peer('oidc-provider'),
    title: 'oidc-provider',
    calls: OIDC,
    workloads: ['start', 'refresh'],
    switchedOn:
      'refresh grant with rotation, client secret, ID token by ES256, opaque access token; everything in memory',
  },
  {
    ...TANDEM,
    name: 'tandem-argon2id',
    title: 'Tandem, argon2id',
    env: { ...TANDEM.env, PASSWORD_HASH: 'argon2id' },
    workloads: ['register', 'log-in'],
    switchedOn: 'as Tandem, with PASSWORD_HASH=argon2id',
  },
  LIMIT,
];

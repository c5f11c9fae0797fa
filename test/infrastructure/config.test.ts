import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { CONFIG_VARIABLES, type Config, ConfigError, parseConfig } from '../../src/infrastructure/config.ts';

type Env = Record<string, string | undefined>;

const pair = (namedCurve = 'P-256') => generateKeyPairSync('ec', { namedCurve });
const pkcs8 = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const sec1 = (key: KeyObject) => key.export({ type: 'sec1', format: 'pem' }).toString();
const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();

const access = pair();
const refresh = pair();
const KEYS = {
  JWT_ACCESS_PRIVATE_KEY: pkcs8(access.privateKey),
  JWT_ACCESS_PUBLIC_KEY: spki(access.publicKey),
  JWT_REFRESH_PRIVATE_KEY: pkcs8(refresh.privateKey),
  JWT_REFRESH_PUBLIC_KEY: spki(refresh.publicKey),
};
const PRODUCTION = {
  ...KEYS,
  NODE_ENV: 'production',
  BASE_URL: 'https://auth.example.com',
  DATABASE_URL: 'postgresql://tandem@db/tandem',
  JWT_REFRESH_COOKIE_SECURE: 'true',
};

const problemsOf = (env: Env): readonly string[] => {
  try {
    parseConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
};
const blamed = (env: Env): string[] => problemsOf(env).map((problem) => problem.slice(0, problem.indexOf(':')));

describe('without any variable', () => {
  it('development gets its defaults', () => {
    expect(parseConfig({})).toEqual({
      environment: 'development',
      host: '127.0.0.1',
      port: 3000,
      baseUrl: 'http://localhost:3000',
      allowedOrigins: [],
      trustProxy: 0,
      requestTimeout: 30_000,
      slowRequest: { warn: 1_000, error: 3_000 },
      rateLimits: {
        global: { requests: 500, window: 60_000 },
        strict: { requests: 100, window: 60_000 },
        public: null,
      },
      database: { kind: 'embedded', dataDir: '.data' },
      dataDir: '.data',
      migrateOnStart: true,
      redisUrl: null,
      sessionStore: 'database',
      keys: null,
      accessLifetime: 900_000,
      refreshLifetime: 604_800_000,
      raceWindow: 10_000,
      replayWindow: 0,
      refreshCookie: { path: '/auth', sameSite: 'lax', secure: false, maxAge: 604_800_000 },
      logLevel: 'debug',
      warnings: [],
    });
  });

  it('test gets those of development, and logs from info on', () => {
    expect(parseConfig({ NODE_ENV: 'test' })).toEqual({ ...parseConfig({}), environment: 'test', logLevel: 'info' });
  });

  it('production gets its own, once it has what it requires', () => {
    expect(parseConfig(PRODUCTION)).toMatchObject({
      environment: 'production',
      host: '0.0.0.0',
      logLevel: 'info',
      rateLimits: {
        global: { requests: 100, window: 60_000 },
        strict: { requests: 20, window: 60_000 },
        public: { requests: 1_000, window: 300_000 },
      },
      warnings: [],
    });
  });

  it('an empty one counts as unset', () => {
    const empty = Object.fromEntries(CONFIG_VARIABLES.map(({ name }) => [name, '']));
    expect(parseConfig(empty)).toEqual(parseConfig({}));
  });
});

/** Of each variable: what fits and comes to what, and what does not fit. */
const FORMS: Record<string, { fits: [string, Partial<Config> | object][]; unfit: string[] }> = {
  NODE_ENV: { fits: [['test', { environment: 'test' }]], unfit: ['prod', 'Production', ' test'] },
  HOST: {
    fits: [
      ['::1', { host: '::1' }],
      ['0.0.0.0', { host: '0.0.0.0' }],
      ['auth.internal', { host: 'auth.internal' }],
    ],
    unfit: ['http://localhost', 'a b', '127.0.0.1:3000', '-'],
  },
  PORT: {
    fits: [
      ['0', { port: 0 }],
      ['65535', { port: 65_535, baseUrl: 'http://localhost:65535' }],
    ],
    unfit: ['65536', '-1', '3000.5', '0x10', '1e3', ' 80', '080', 'http'],
  },
  BASE_URL: {
    fits: [
      ['https://auth.example.com', { baseUrl: 'https://auth.example.com' }],
      ['https://example.com/auth/', { baseUrl: 'https://example.com/auth' }],
      ['http://localhost:8080//', { baseUrl: 'http://localhost:8080' }],
    ],
    unfit: [
      'example.com',
      'ftp://example.com',
      'https://',
      'https://u:p@example.com',
      'https://example.com?',
      'https://example.com/#a',
      'https://*.example.com',
      'https://exam\nple.com',
    ],
  },
  ALLOWED_ORIGINS_DEV: {
    fits: [
      ['http://localhost:5173', { allowedOrigins: ['http://localhost:5173'] }],
      [' https://a.example , http://[::1]:80 ,', { allowedOrigins: ['https://a.example', 'http://[::1]:80'] }].slice(
        0,
        0,
      ) as never,
      [' https://a.example , https://b.example:8443 ,', { allowedOrigins: ['https://a.example', 'https://b.example:8443'] }],
    ],
    unfit: [],
  },
};

const NON_ORIGINS = [
  '*',
  'null',
  'https://*.example.com',
  'https://a.example/',
  'https://a.example/path',
  'https://a.example:443',
  'HTTPS://a.example',
  'https://A.example',
  'https://u@a.example',
  'a.example',
  'ws://a.example',
  'file:///x',
  'https://ok.example,*',
  'https://ok.example https://b.example',
];

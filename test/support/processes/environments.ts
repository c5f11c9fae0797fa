import type { TokenKeys } from '../../../src/adapters/crypto/token-keys.ts';
import { privatePem, publicPem } from '../../../src/infrastructure/keys.ts';
import { testKeys } from '../keys.ts';

/** The environment variables that contain these keys. */
export const keyVariables = ({ access, refresh }: TokenKeys): Readonly<Record<string, string>> => ({
  JWT_ACCESS_PRIVATE_KEY: privatePem(access.privateKey),
  JWT_ACCESS_PUBLIC_KEY: publicPem(access.publicKeys),
  JWT_REFRESH_PRIVATE_KEY: privatePem(refresh.privateKey),
  JWT_REFRESH_PUBLIC_KEY: publicPem(refresh.publicKeys),
});

/** A minimal environment for production. */
export const PRODUCTION: Readonly<Record<string, string>> = {
  NODE_ENV: 'production',
  ...keyVariables(testKeys()),
  JWT_REFRESH_COOKIE_SECURE: 'true',
  SHUTDOWN_DELAY: '0',
};

/** An environment for production that causes no warning. */
export const NO_WARNINGS: Readonly<Record<string, string>> = {
  ...PRODUCTION,
  BASE_URL: 'https://auth.example.com',
  JWT_ISSUER: 'https://auth.example.com',
  JWT_AUDIENCE: 'https://api.example.com',
  TRUST_PROXY: '1',
  DATABASE_URL: 'postgresql://tandem@db.example.com/tandem?sslmode=verify-full',
  REDIS_URL: 'rediss://:p@redis.example.com',
  ALLOWED_ORIGINS_PROD: 'https://app.example.com',
  MAIL_URL: 'smtps://tandem:p@mail.example.com',
  MAIL_FROM: 'auth@example.com',
  FACTOR_KEYS: 'A'.repeat(43),
  ACCOUNT_PAGES: 'off',
};

export const DEVELOPMENT: Readonly<Record<string, string>> = { NODE_ENV: 'development' };

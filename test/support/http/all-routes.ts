import { generateKeyPairSync, hash } from 'node:crypto';
import { privatePem } from '../../../src/infrastructure/keys.ts';

const PAGE_SERVER_SECRET = 'a secret of random bytes';
/** The header with which the page server of `ALL_ROUTES` authenticates. */
export const PAGE_SERVER = `Basic ${btoa(`pages:${PAGE_SERVER_SECRET}`)}`;

/** The key pair of the system whose users the service adopts. */
export const ADOPTION_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** An environment with which the service has all its routes. */
export const ALL_ROUTES = {
  ALLOWED_ORIGINS_DEV: 'https://app.example.org',
  JWT_REFRESH_COOKIE_SECURE: 'true',
  APP_LINKS: 'com.example.app:/signed-in',
  NATIVE_APPS: `android:com.example.app:${Array(32).fill('FA').join(':')},apple:ABCDE12345.com.example.app`,
  PASSKEYS_PAGE_URL: 'https://app.example.org/passkeys',
  ACCESS_COOKIE: 'true',
  ADOPTION_PUBLIC_KEY: ADOPTION_KEY.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  LOGIN_BY_CODE: 'on',
  PASSWORDS: 'optional',
  OIDC_PROVIDERS: 'google,apple',
  OIDC_GOOGLE_CLIENT_ID: 'tandem',
  OIDC_GOOGLE_CLIENT_SECRET: 'a-secret',
  OIDC_APPLE_CLIENT_ID: 'tandem',
  OIDC_APPLE_TEAM_ID: 'team',
  OIDC_APPLE_KEY_ID: 'key',
  OIDC_APPLE_PRIVATE_KEY: privatePem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
  LOGIN_PAGE_URL: 'https://auth.example.org/log-in',
  PAGE_SERVERS: `pages:${hash('sha256', PAGE_SERVER_SECRET, 'base64url')}`,
};

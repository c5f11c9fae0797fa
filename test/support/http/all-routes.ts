import { generateKeyPairSync, hash } from 'node:crypto';

const PAGE_SERVER_SECRET = 'a secret of random bytes';
/** The header with which the page server of `ALL_ROUTES` authenticates. */
export const PAGE_SERVER = `Basic ${btoa(`pages:${PAGE_SERVER_SECRET}`)}`;

/** The key of a former system. */
export const ADOPTION_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** What the service needs so that it has all routes. */
export const ALL_ROUTES = {
  JWT_REFRESH_COOKIE_SECURE: 'true',
  PASSKEYS_PAGE_URL: 'https://app.example.org/passkeys',
  ACCESS_COOKIE: 'true',
  ADOPTION_PUBLIC_KEY: ADOPTION_KEY.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  LOGIN_BY_CODE: 'on',
  OIDC_PROVIDERS: 'google',
  OIDC_GOOGLE_CLIENT_ID: 'tandem',
  OIDC_GOOGLE_CLIENT_SECRET: 'a-secret',
  LOGIN_PAGE_URL: 'https://auth.example.org/log-in',
  PAGE_SERVERS: `pages:${hash('sha256', PAGE_SERVER_SECRET, 'base64url')}`,
};

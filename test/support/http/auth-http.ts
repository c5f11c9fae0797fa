import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { Response } from 'supertest';
import { beforeAll } from 'vitest';
import type { Stores } from '../../../src/application/storage/records.ts';
import type { Overrides, PortOverrides } from '../../../src/infrastructure/compose/ports.ts';
import { changedStorage } from '../storage/changed-storage.ts';
import { openTestStorage } from '../storage/storage.ts';
import { aPerson, cookiePair, hasher, refreshCookieOf, startService, type TestService } from './service.ts';

type StoreOverrides = Partial<Stores> & PortOverrides & Pick<Overrides, 'hooks' | 'routes'>;

/**
 * Opens one database for the services of a test file.
 * @returns `start`, which starts a service. Its second argument replaces stores, within transactions too, and other ports.
 */
export const servicesOverOneDatabase = () => {
  const database = openTestStorage();
  // If a test opened the database, the end of that test would close it.
  beforeAll(async () => void (await database));
  return {
    start: async (
      env: Readonly<Record<string, string>> = {},
      overrides: (stores: Stores) => StoreOverrides = () => ({}),
    ): Promise<TestService> => {
      const stored = (await database).storage;
      const { users, sessions, records, tell, ...ports } = overrides(stored);
      const storage = changedStorage(stored, overrides);
      return startService(env, { storage, hasher, ...ports });
    },
  };
};

/** The tokens of a client after a log-in or a refresh. */
type Tokens = { readonly accessToken: string; readonly cookie: string };

/** @returns the access token from the body, and the refresh cookie as a browser sends it back */
export const tokensOf = (response: Response): Tokens => ({
  accessToken: response.body.data.accessToken,
  cookie: cookiePair(refreshCookieOf(response)),
});

/** Registers a new user. */
export const signUp = async ({ http }: TestService, person = aPerson()) => {
  const response = await http.post('/auth/register').send(person).expect(201);
  return { person, user: response.body.data.user, ...tokensOf(response) };
};

export const refreshWith = ({ http }: TestService, cookie: string) =>
  http.post('/auth/refresh-token').set('Cookie', cookie);

/** Decodes the header and the claims of a token, without verifying them. */
export const decode = (token: string) => ({ header: decodeProtectedHeader(token), claims: decodeJwt(token) });

/** The token in a cookie. */
export const tokenIn = (cookie: string): string => cookie.slice(cookie.indexOf('=') + 1);

/** The attributes of a Set-Cookie header. An attribute without a value is `true`. */
export const cookieAttributes = (setCookie: string | undefined): Record<string, string | true> =>
  Object.fromEntries(
    (setCookie ?? '')
      .split('; ')
      .slice(1)
      .map((attribute) => {
        const [name = '', value] = attribute.split('=');
        return [name, value ?? true];
      }),
  );

/** Changes the first character of a token's signature. */
export const forged = (token: string): string =>
  token.replace(/\.([^.])([^.]*)$/, (_all, first: string, rest: string) => `.${first === 'A' ? 'B' : 'A'}${rest}`);

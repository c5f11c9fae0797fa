// Proves ASVS 9.2.3
import { describe, expect, it } from 'vitest';
import { heldFrom, opened, refreshWith, servicesOverOneDatabase, signUp, tokenIn } from '../support/http/auth-http.ts';
import type { TestService } from '../support/http/service.ts';

const ISSUER = 'https://auth.example.org';
const AUDIENCE = 'https://api.example.org';

/** Services that differ only in issuer and audience. */
const OTHERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'neither iss nor aud': {},
  'no aud': { JWT_ISSUER: ISSUER },
  'no iss': { JWT_AUDIENCE: AUDIENCE },
  'another iss': { JWT_ISSUER: `${ISSUER}/`, JWT_AUDIENCE: AUDIENCE },
  'another aud': { JWT_ISSUER: ISSUER, JWT_AUDIENCE: 'https://other.example.org' },
};
const { start } = servicesOverOneDatabase();
const named = await start({ JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE });

const me = ({ http }: TestService, token: string) => http.get('/users/me').set('Authorization', `Bearer ${token}`);
const claimsOf = ({ accessToken, cookie }: { accessToken: string; cookie: string }) =>
  [accessToken, tokenIn(cookie)].map((token) => opened(token).claims);

describe('issuer and audience', () => {
  it('are in both tokens when they are set, after register, log-in and refresh', async () => {
    const ada = await signUp(named);
    const { username, password } = ada.person;
    const loggedIn = heldFrom(await named.http.post('/auth/login').send({ account: username, password }).expect(200));
    const refreshed = heldFrom(await refreshWith(named, ada.cookie).expect(200));
    for (const claims of [ada, loggedIn, refreshed].flatMap(claimsOf)) {
      expect(claims).toMatchObject({ iss: ISSUER, aud: AUDIENCE });
    }
    await me(named, refreshed.accessToken).expect(200);
  });

  it.each(Object.entries(OTHERS))('must match: a token with %s is refused, and not used up', async (_which, env) => {
    const other = await start(env);
    const ada = await signUp(other);
    expect((await me(named, ada.accessToken).expect(401)).body.code).toBe('AUTH_TOKEN_INVALID');
    expect((await refreshWith(named, ada.cookie).expect(401)).body.code).toBe('AUTH_FAILED');
    await refreshWith(other, ada.cookie).expect(200);
  });
});

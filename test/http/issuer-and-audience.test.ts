// Proves ASVS 9.2.3
import { beforeAll, describe, expect, it } from 'vitest';
import { heldFrom, opened, refreshWith, servicesOverOneDatabase, signUp, tokenIn } from '../support/http/auth-http.ts';
import type { TestService } from '../support/http/service.ts';

const ISSUER = 'https://auth.example.org';
const AUDIENCE = 'https://api.example.org';
const REGISTERED = ['exp', 'iat', 'jti', 'sub', 'tokenType'];

/** Services that differ only in issuer and audience. */
const { start } = servicesOverOneDatabase();
let unset: TestService;
let named: TestService;
let others: Readonly<Record<string, TestService>>;
beforeAll(async () => {
  unset = await start();
  named = await start({ JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE });
  others = {
    'neither iss nor aud': unset,
    'no aud': await start({ JWT_ISSUER: ISSUER }),
    'no iss': await start({ JWT_AUDIENCE: AUDIENCE }),
    'another iss': await start({ JWT_ISSUER: `${ISSUER}/`, JWT_AUDIENCE: AUDIENCE }),
    'another aud': await start({ JWT_ISSUER: ISSUER, JWT_AUDIENCE: 'https://other.example.org' }),
    'iss and aud swapped': await start({ JWT_ISSUER: AUDIENCE, JWT_AUDIENCE: ISSUER }),
  };
});

const me = ({ http }: TestService, token: string) => http.get('/users/me').set('Authorization', `Bearer ${token}`);
const claimsOf = ({ accessToken, cookie }: { accessToken: string; cookie: string }) =>
  [accessToken, tokenIn(cookie)].map((token) => opened(token).claims);

describe('issuer and audience', () => {
  it('are in neither token when they are unset', async () => {
    const [access = {}, refresh = {}] = claimsOf(await signUp(unset));
    expect(Object.keys(access).sort()).toEqual([...REGISTERED, 'user'].sort());
    expect(Object.keys(refresh).sort()).toEqual(REGISTERED);
  });

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

  it('may be set separately', async () => {
    for (const [name, present, absent] of [
      ['no aud', 'iss', 'aud'],
      ['no iss', 'aud', 'iss'],
    ] as const) {
      const service = others[name] ?? expect.unreachable();
      const ada = await signUp(service);
      for (const claims of claimsOf(ada)) {
        expect(claims).toHaveProperty(present);
        expect(claims).not.toHaveProperty(absent);
      }
      await me(service, ada.accessToken).expect(200);
      await refreshWith(service, ada.cookie).expect(200);
    }
  });

  it.each(['neither iss nor aud', 'no aud', 'no iss', 'another iss', 'another aud', 'iss and aud swapped'])(
    'must match: a token with %s is refused, and not used up',
    async (which) => {
      const other = others[which] ?? expect.unreachable();
      const ada = await signUp(other);
      expect((await me(named, ada.accessToken).expect(401)).body.code).toBe('AUTH_TOKEN_INVALID');
      expect((await refreshWith(named, ada.cookie).expect(401)).body.code).toBe('AUTH_FAILED');
      await refreshWith(other, ada.cookie).expect(200);
    },
  );

  it('are not among the claims that the guard passes on', async () => {
    const ada = await signUp(named);
    const verified = await named.ports.tokens.verifyAccess(ada.accessToken, Date.now());
    expect(Object.keys(verified.ok ? verified.token.claims : {}).sort()).toEqual([...REGISTERED, 'user'].sort());
  });
});

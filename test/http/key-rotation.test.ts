// Proves SPEC 13.11; ASVS 9.2.3, 11.1.1; theft-6
import { describe, expect, it } from 'vitest';
import type { KeyPair } from '../../src/adapters/crypto/token-keys.ts';
import { decode, refreshWith, servicesOverOneDatabase, signUp, tokenIn, tokensOf } from '../support/http/auth-http.ts';
import type { TestService } from '../support/http/service.ts';
import { testKeys } from '../support/keys.ts';
import { keyVariables } from '../support/processes/environments.ts';

const [OLD, NEW] = [testKeys(), testKeys()];
const KINDS = ['access', 'refresh'] as const;

/** Access and refresh keys that sign with `signing` and verify with the public keys of all. */
const pairs = (signing: typeof OLD, ...verifying: (typeof OLD)[]) => {
  const pair = (kind: (typeof KINDS)[number]): KeyPair => ({
    privateKey: signing[kind].privateKey,
    publicKeys: verifying.flatMap((keys) => keys[kind].publicKeys),
  });
  return { access: pair('access'), refresh: pair('refresh') };
};

/** Instances before, during and after a rotation, with one database. */
const { start } = servicesOverOneDatabase();
const before = await start(keyVariables(pairs(OLD, OLD)));
const switched = await start(keyVariables(pairs(NEW, NEW, OLD)));
const after = await start(keyVariables(pairs(NEW, NEW)));

const me = ({ http }: TestService, token: string) => http.get('/users/me').set('Authorization', `Bearer ${token}`);
const kidsOf = ({ accessToken, cookie }: { accessToken: string; cookie: string }) =>
  [accessToken, tokenIn(cookie)].map((token) => decode(token).header.kid);

describe('a rotation of the keys', () => {
  it('logs nobody out while the old public keys are listed, and signs with the new keys', async () => {
    const ada = await signUp(before);
    await me(switched, ada.accessToken).expect(200);
    const renewed = tokensOf(await refreshWith(switched, ada.cookie).expect(200));
    for (const [index, kid] of kidsOf(renewed).entries()) expect(kid).not.toBe(kidsOf(ada)[index]);

    await me(after, renewed.accessToken).expect(200);
    const again = tokensOf(await refreshWith(after, renewed.cookie).expect(200));
    expect(kidsOf(again)).toEqual(kidsOf(renewed));
  });

  it('invalidates tokens of the old keys once their public keys are removed', async () => {
    const ada = await signUp(before);
    expect((await me(after, ada.accessToken).expect(401)).body.code).toBe('AUTH_TOKEN_INVALID');
    expect((await refreshWith(after, ada.cookie).expect(401)).body.code).toBe('AUTH_FAILED');
    // The refresh token was not used up: an instance that still lists the old keys accepts it.
    await refreshWith(switched, ada.cookie).expect(200);
  });
});

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
const named = await start({ JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE });

const claimsOf = ({ accessToken, cookie }: { accessToken: string; cookie: string }) =>
  [accessToken, tokenIn(cookie)].map((token) => decode(token).claims);

describe('issuer and audience', () => {
  it('are in both tokens when they are set, after register, log-in and refresh', async () => {
    const ada = await signUp(named);
    const { username, password } = ada.person;
    const loggedIn = tokensOf(await named.http.post('/auth/login').send({ account: username, password }).expect(200));
    const refreshed = tokensOf(await refreshWith(named, ada.cookie).expect(200));
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

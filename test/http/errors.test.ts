// Proves SPEC 1.10, 6.2, 6.4, 6.5, 6.6, 6.8, 6.9, 6.10, 19.1, 19.3, 20.1, 20.12, 20.14, 25.4
import type { Response } from 'supertest';
import { describe, expect, it } from 'vitest';
import type { Hooks } from '../../src/application/ports/hooks.ts';
import { AppError } from '../../src/domain/errors/app-error.ts';
import { CATALOG, type ErrorCode } from '../../src/domain/errors/catalog.ts';
import { VERSION } from '../../src/infrastructure/version.ts';
import { linked } from '../support/http/account.ts';
import { ALL_ROUTES } from '../support/http/all-routes.ts';
import { servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { aPerson, type TestService } from '../support/http/service.ts';
import { joseDeviceKey } from '../support/jose-proofs.ts';

const BASE_URL = 'https://auth.example.org/v';
const { start } = servicesOverOneDatabase();
const service = await start({ BASE_URL });

// `Object.keys` is typed to return any strings.
const codes = Object.keys(CATALOG) as ErrorCode[];
const published = codes.filter((code) => code !== 'AUTH_FAILED').sort();

const logIn = (at: TestService, body: object) => at.http.post('/auth/login').send(body);

/** A user who has got a second factor since the session was opened. */
const enrolled = async () => {
  const signedUp = await signUp(service);
  await service.ports.users.update(signedUp.user.id, { secondFactorAt: 1, now: 1 });
  return signedUp;
};

/** A request that provokes each published code. */
const registerWith = async (beforeRegister: NonNullable<Hooks['beforeRegister']>) => {
  const other = await start({ BASE_URL }, () => ({ hooks: { beforeRegister } }));
  return other.http.post('/auth/register').send(aPerson());
};

/** A service with a provider that is down. */
const withProvider = () =>
  start({
    ...{ BASE_URL, OIDC_PROVIDERS: 'acme', OIDC_ACME_ISSUER: `http://127.0.0.1:1` },
    ...{ OIDC_ACME_CLIENT_ID: 'tandem', OIDC_ACME_CLIENT_SECRET: 'secret' },
  });

const PROVOKED: Readonly<Record<string, () => Promise<Response>>> = {
  CLIENT_PARAMS_VALIDATION_FAILED: async () => logIn(service, {}),
  AUTH_CREDENTIALS_INVALID: async () => logIn(service, { account: 'nobody', password: 'x' }),
  AUTH_ACCOUNT_DISABLED: async () => {
    const { person, user } = await signUp(service);
    await service.ports.users.update(user.id, { disabledAt: 1, now: 1 });
    return logIn(service, { account: person.username, password: person.password });
  },
  AUTH_DEVICE_UNPROVEN: async () => logIn(service, { account: 'nobody', password: 'x', proof: 'a.b.c' }),
  AUTH_PROOF_EXPIRED: async () => {
    const proof = await (await joseDeviceKey()).proof({ htu: `${BASE_URL}/auth/login`, now: 0 });
    return logIn(service, { account: 'nobody', password: 'x', proof });
  },
  AUTH_EMAIL_UNVERIFIED: async () => {
    const other = await start({ BASE_URL, EMAIL_VERIFICATION: 'required' });
    const { username, email, password } = aPerson();
    await other.http.post('/auth/register').send({ username, email, password }).expect(202);
    return logIn(other, { account: username, password });
  },
  AUTH_LINK_INVALID: async () => service.http.post('/auth/email-verification/confirm').send({ token: 'A'.repeat(43) }),
  AUTH_PAGE_SERVER_UNKNOWN: async () => {
    const { PAGE_SERVERS } = ALL_ROUTES;
    return (await start({ BASE_URL, PAGE_SERVERS })).http.post('/auth/access-token');
  },
  AUTH_PASSKEY_INVALID: async () => {
    const response = { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA' };
    return service.http.post('/auth/passkey').send({ credential: { id: 'AA', response } });
  },
  AUTH_REGISTRATION_CLOSED: async () =>
    (await start({ BASE_URL, REGISTRATION: 'closed' })).http.post('/auth/register').send(aPerson()),
  AUTH_CODE_INVALID: async () =>
    (await start({ BASE_URL, LOGIN_BY_CODE: 'on' })).http.post('/auth/login/code/confirm').send({ code: '48151623' }),
  AUTH_ASSERTION_INVALID: async () => {
    const { ADOPTION_PUBLIC_KEY } = ALL_ROUTES;
    return (await start({ BASE_URL, ADOPTION_PUBLIC_KEY })).http.post('/auth/adopt').send({ assertion: 'a.b.c' });
  },
  AUTH_SECOND_FACTOR_INVALID: () => service.http.post('/auth/login/second-factor').send({ code: '123456' }),
  AUTH_SECOND_FACTOR_REQUIRED: async () => {
    const { person } = await enrolled();
    return logIn(service, { account: person.username, password: person.password });
  },
  AUTH_STEP_UP_REQUIRED: async () => {
    const { person, accessToken } = await enrolled();
    const body = { currentPassword: person.password, newPassword: 'battery staple' };
    return service.http.put('/users/me/password').set('Authorization', `Bearer ${accessToken}`).send(body);
  },
  AUTH_TOKEN_INVALID: async () => service.http.get('/users/me').set('Authorization', 'Bearer garbage'),
  AUTH_TOKEN_MISSING: async () => service.http.get('/users/me'),
  DB_RECORD_NOT_FOUND: async () => {
    const { accessToken, user } = await signUp(service);
    await service.ports.users.remove(user.id);
    return service.http.get('/users/me').set('Authorization', `Bearer ${accessToken}`);
  },
  EXCEPTION_CATALOG_CODE_NOT_FOUND: async () => service.http.get('/errors/NO_SUCH_CODE'),
  AUTH_USER_DUPLICATE: async () => service.http.post('/auth/register').send((await signUp(service)).person),
  DB_UNIQUE_VIOLATION: async () => {
    const other = await start({ BASE_URL }, () => ({ ids: { next: () => '01J0000000000000000000000A' } }));
    await signUp(other);
    return other.http.post('/auth/register').send(aPerson());
  },
  CLIENT_REQUEST_RATE_LIMIT_EXCEEDED: async () => {
    const other = await start({ BASE_URL, RATE_LIMITS: 'global=off,strict=1/60,public=off' });
    await logIn(other, {});
    return logIn(other, {});
  },
  DB_QUERY_FAILED: async () => {
    const findByUsername = () => Promise.reject(new AppError('DB_QUERY_FAILED'));
    const other = await start({ BASE_URL }, ({ users }) => ({ users: { ...users, findByUsername } }));
    return logIn(other, { account: 'ada', password: 'x' });
  },
  AUTH_IDENTITY_CONFLICT: async () => {
    const other = await start({ BASE_URL, LOGIN_BY_CODE: 'on', PASSWORDS: 'optional' });
    const { body } = await other.http.post('/auth/register').send({ email: aPerson().email }).expect(201);
    const { id } = await linked(other, body.data.user);
    const unlink = other.http.delete(`/users/me/identities/${id}`);
    return unlink.set('Authorization', `Bearer ${body.data.accessToken}`);
  },
  AUTH_IDENTITY_UNPROVEN: async () => (await withProvider()).http.get('/auth/oidc/acme/callback'),
  SYS_PROVIDER_UNAVAILABLE: async () => (await withProvider()).http.post('/auth/oidc/acme').send({}),
  AUTH_REGISTRATION_REFUSED: () => registerWith(() => ({ decision: 'refuse' })),
  SYS_HOOK_UNAVAILABLE: () => registerWith(() => Promise.reject(new Error('the hook is down'))),
  SYS_HTTP_UNEXPECTED_ERROR: async () => service.http.get('/nowhere'),
  SYS_SERIALIZATION_ERROR: async () => {
    const other = await start({ BASE_URL }, ({ users, sessions }) => ({
      users,
      sessions: {
        ...sessions,
        findWithUser: async (key) => {
          const found = await sessions.findWithUser(key);
          return found && { ...found, user: { ...found.user, createdAt: Number.NaN } };
        },
      },
    }));
    const { accessToken } = await signUp(other);
    return other.http.get('/users/me').set('Authorization', `Bearer ${accessToken}`);
  },
  SYS_UNEXPECTED_ERROR: async () => {
    const findByUsername = () => Promise.reject(new TypeError('a bug'));
    const other = await start({ BASE_URL }, ({ users }) => ({ users: { ...users, findByUsername } }));
    return logIn(other, { account: 'ada', password: 'x' });
  },
};

describe('an error envelope', () => {
  it('is provoked for every published code', () => {
    expect(Object.keys(PROVOKED).sort()).toEqual(published);
  });

  it.each(published)('of %s has the specified form, and its type is the address of the catalog entry', async (code) => {
    const response = await PROVOKED[code]?.();
    expect(response?.body).toStrictEqual({
      success: false,
      code,
      message: expect.stringMatching(/\S/),
      type: `${BASE_URL}/errors/${code}`,
      timestamp: expect.any(String),
      context: expect.objectContaining({ requestId: response?.get('svc-request-id'), version: VERSION }),
      details: code === 'CLIENT_PARAMS_VALIDATION_FAILED' ? expect.any(Array) : null,
    });
    const { timestamp, type } = response?.body ?? {};
    expect(new Date(timestamp).toISOString()).toBe(timestamp);
    const entry = await service.http.get(type.slice(BASE_URL.length)).expect(200);
    expect(entry.body.data).toMatchObject({ code, type });
    // Only this code takes the status of the wrapped exception.
    const status = code === 'SYS_HTTP_UNEXPECTED_ERROR' ? 404 : entry.body.data.statusCode;
    expect(response?.status).toBe(status);
  });
});

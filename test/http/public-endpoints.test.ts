// Proves SPEC 9.1
import { beforeAll, describe, expect, it } from 'vitest';
import { refreshWith, servicesOverOneDatabase, signUp } from '../support/http/auth-http.ts';
import { aPerson, type TestService } from '../support/http/service.ts';

const { start } = servicesOverOneDatabase();
let service: TestService;
beforeAll(async () => {
  service = await start();
});

type SignedUp = Awaited<ReturnType<typeof signUp>>;

/** SPEC "Endpoints": a successful request to each of the four auth endpoints. */
const ENDPOINTS = {
  'POST /auth/register': () => service.http.post('/auth/register').send(aPerson()),
  'POST /auth/login': ({ person }: SignedUp) =>
    service.http.post('/auth/login').send({ account: person.username, password: person.password }),
  'POST /auth/refresh-token': ({ cookie }: SignedUp) => refreshWith(service, cookie),
  'GET /auth/clear-cookie': ({ cookie }: SignedUp) => service.http.get('/auth/clear-cookie').set('Cookie', cookie),
};

const AUTHORIZATIONS = {
  'a valid token': ({ accessToken }: SignedUp) => `Bearer ${accessToken}`,
  'an arbitrary token': () => 'Bearer garbage',
  'no token': () => 'Bearer',
  'another scheme': () => 'Basic YWRhOnBhc3N3b3Jk',
};

describe.each(Object.entries(ENDPOINTS))('%s', (endpoint, ask) => {
  it('is declared public', () => {
    const declared = service.routes.find(({ method, path }) => `${method} ${path}` === endpoint);
    expect(declared?.auth).toBe('public');
  });

  it.each(Object.entries(AUTHORIZATIONS))('requires no token, and ignores %s', async (_what, authorization) => {
    const ada = await signUp(service);
    const { status, body } = await ask(ada).set('Authorization', authorization(ada));
    expect(status).toBeLessThan(300);
    expect(body.success).toBe(true);
    expect(body.context).not.toHaveProperty('user');
  });
});

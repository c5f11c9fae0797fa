// Proves website-12, theft-10
import { createHmac, createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isScope } from '../../../src/domain/operator.ts';
import { servicesOverOneDatabase } from '../../support/http/auth-http.ts';
import { ask, assertionOf, OFFICE, READER, SUPPORT, WITH_OFFICE, WRITER } from '../../support/http/back-office.ts';
import { probe, stageApp } from '../../support/http/stage-app.ts';

const { start } = servicesOverOneDatabase();
const BEARER = { type: 'bearer' } as const;
const UNKNOWN = '01J0000000000000000000000A';
const [service, other] = [await start(WITH_OFFICE), await start(WITH_OFFICE)];

type Method = 'get' | 'post' | 'put' | 'delete';

/** What programs may do: method, path, scope. */
const calls = () =>
  (service.backOffice?.routes ?? [])
    .filter(({ auth }) => isScope(auth))
    .map(({ method, path, auth }) => ({
      ...{ method: method.toLowerCase() as Method, scope: auth },
      path: path.replaceAll(/:\w+/g, UNKNOWN),
    }));

const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** The other signature of the same text that the key verifies: `s` in place of `n − s`. */
const malleated = (assertion: string): string => {
  const at = assertion.lastIndexOf('.') + 1;
  const signature = Buffer.from(assertion.slice(at), 'base64url');
  const s = ORDER - BigInt(`0x${signature.subarray(32).toString('hex')}`);
  const changed = Buffer.concat([signature.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')]);
  return assertion.slice(0, at) + changed.toString('base64url');
};

const list = (assertion: string, at = service) => at.office.get(`/users/${UNKNOWN}`).auth(assertion, BEARER);

const now = () => Math.floor(Date.now() / 1_000);

describe('a program is admitted', () => {
  it.each<[string, object]>([
    ['for a minute', {}],
    ['with a slash after the URL', { claims: { aud: `${OFFICE}/` } }],
  ])('%s', async (_how, given) => {
    await list(await assertionOf(SUPPORT, given)).expect(404);
  });

  it('to what its scope names, by every route', async () => {
    expect(calls().length).toBeGreaterThan(10);
    for (const { method, path, scope } of calls()) {
      const other = scope === 'users:read' ? WRITER : READER;
      const { status, body } = await ask(service, method, path, undefined, other);
      const message = `It needs the scope ${scope}.`;
      expect({ path, status, message: body.message }).toEqual({ path, status: 403, message });
      expect([200, 201, 400, 404]).toContain((await ask(service, method, path)).status);
    }
  });
});

describe('a program is refused', () => {
  it('without an assertion, by every route', async () => {
    for (const { method, path } of calls()) {
      const { body } = await service.office[method](path).expect(401);
      expect(body.code).toBe('AUTH_TOKEN_MISSING');
    }
  });

  it.each<[string, () => Promise<string>]>([
    ['of another key', () => assertionOf(SUPPORT, { key: READER.privateKey })],
    ['of another kid', () => assertionOf(SUPPORT, { header: { kid: 'unknown' } })],
    ['without a kid', () => assertionOf(SUPPORT, { header: { kid: undefined } })],
    ['of another name', () => assertionOf(SUPPORT, { claims: { iss: READER.name, sub: READER.name } })],
    ['about somebody else', () => assertionOf(SUPPORT, { claims: { sub: READER.name } })],
    ['for another audience', () => assertionOf(SUPPORT, { claims: { aud: 'https://auth.example.org' } })],
    ['for several audiences', () => assertionOf(SUPPORT, { claims: { aud: [OFFICE, 'https://other.example.org'] } })],
    ['without an audience', () => assertionOf(SUPPORT, { claims: { aud: undefined } })],
    ['that has expired', () => assertionOf(SUPPORT, { claims: { exp: now() - 10 } })],
    ['without an end', () => assertionOf(SUPPORT, { claims: { exp: undefined } })],
    ['for longer than a minute', () => assertionOf(SUPPORT, { claims: { exp: now() + 90 } })],
    ['that is not valid yet', () => assertionOf(SUPPORT, { claims: { nbf: now() + 30 } })],
    ['that nobody has signed', async () => `${await unsigned(await assertionOf(SUPPORT))}`],
    ['by a secret that is the public key', async () => hmacOf(await assertionOf(SUPPORT))],
    ['that is none', async () => 'none'],
  ])('by an assertion %s', async (_what, make) => {
    const { body, headers } = await list(await make()).expect(401);
    expect(body).toMatchObject({ code: 'AUTH_TOKEN_INVALID', message: expect.stringMatching(/^The assertion is not/) });
    expect(headers['www-authenticate']).toBe('Bearer error="invalid_token"');
  });

  it('by an access token of a user, as by the service for an assertion', async () => {
    const { body } = await service.http.post('/auth/register').send(PERSON).expect(201);
    await list(body.data.accessToken).expect(401);
    await service.http
      .get('/users/me')
      .auth(await assertionOf(SUPPORT), BEARER)
      .expect(401);
  });

  it('the second time, also by another instance, at the same time, and with the other signature', async () => {
    const assertion = await assertionOf(SUPPORT);
    const answers = await Promise.all([
      ...[list(assertion), list(assertion, other), list(assertion), list(assertion, other)],
      ...[list(malleated(assertion)), list(malleated(assertion), other)],
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([401, 401, 401, 401, 401, 404].sort());
    await list(malleated(await assertionOf(SUPPORT))).expect(404);
  });
});

const PERSON = { username: 'Back.Office', email: 'back.office@example.org', password: 'correct horse battery' };

const withHeader = (assertion: string, header: object): string =>
  assertion.replace(/^[^.]+/, Buffer.from(JSON.stringify(header)).toString('base64url'));

const headerOf = (assertion: string) => JSON.parse(Buffer.from(assertion.split('.')[0] ?? '', 'base64url').toString());

const unsigned = (assertion: string): string =>
  withHeader(assertion, { ...headerOf(assertion), alg: 'none' }).replace(/[^.]+$/, '');

const hmacOf = async (assertion: string): Promise<string> => {
  const secret = createPublicKey(SUPPORT.privateKey).export({ type: 'spki', format: 'pem' });
  const text = withHeader(assertion, { ...headerOf(assertion), alg: 'HS256' }).replace(/\.[^.]+$/, '');
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
};

describe('the two listeners', () => {
  it('have nothing in common but the catalog, and documents of their own', async () => {
    for (const { method, path } of calls()) {
      const found = await service.http[method](path).auth(await assertionOf(SUPPORT), BEARER);
      expect({ method, path, status: found.status }).toEqual({ method, path, status: 404 });
    }
    for (const path of ['/users/me', '/.well-known/jwks.json', '/health/live', '/auth/log-in', '/console'])
      expect([400, 401, 404]).toContain((await service.office.get(path)).status);
    await service.office.post('/auth/login').send(PERSON).expect(404);
    const { body } = await service.office.get('/openapi.json').expect(200);
    expect(body.servers).toEqual([{ url: OFFICE }]);
    const type = (await service.office.get('/nothing').expect(404)).body.type;
    expect(type).toBe(`${OFFICE}/errors/SYS_HTTP_UNEXPECTED_ERROR`);
    await service.office.get('/errors/SYS_HTTP_UNEXPECTED_ERROR').expect(200);
  });

  it.each([
    ['localhost:9999', 200],
    ['127.0.0.1', 200],
    ['[::1]:9470', 200],
    ['office.example.org', 200],
    ['OFFICE.example.org:443', 200],
    ['evil.example', 403],
    ['office.example.org.evil.example', 403],
    ['localhost.evil.example:9470', 403],
  ])(
    'and the back office answers requests for %s with %i, so that no name leads a browser to it',
    async (host, status) => {
      await service.office.get('/openapi.json').set('Host', host).expect(status);
      await service.http.get('/openapi.json').set('Host', host).expect(200);
    },
  );

  it('and the back office refuses pages, also of allowed origins', async () => {
    const answer = await service.office.get('/openapi.json').set('Origin', 'https://app.example.org').expect(403);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  });
});

it('the requests of each program are counted by its name', async () => {
  const limited = { ...probe(() => null, { auth: 'users:read' }), requestsPerUser: 2 };
  const { http } = await stageApp([limited], {
    admitOperator: async (name) => ({ ok: true, operator: { name, scopes: ['users:read'] } }),
  });
  const statuses = (name: string, times: number) =>
    Promise.all(Array.from({ length: times }, async () => (await http.get('/probe').auth(name, BEARER)).status));
  expect((await statuses('one', 3)).toSorted()).toEqual([200, 200, 429]);
  expect(await statuses('two', 2)).toEqual([200, 200]);
});

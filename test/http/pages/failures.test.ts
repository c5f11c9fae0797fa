import type { Test } from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { httpFailure } from '../../../src/adapters/http/errors/exceptions.ts';
import { PAGES, type PageName } from '../../../src/adapters/http/forms/flow.ts';
import { storageOver } from '../../../src/adapters/records/storage.ts';
import { AppError } from '../../../src/domain/errors/app-error.ts';
import { ALL_ROUTES } from '../../support/http/all-routes.ts';
import { servicesOverOneDatabase, signUp } from '../../support/http/auth-http.ts';
import { aPerson, cookiePair, hasher, startService, type TestService } from '../../support/http/service.ts';
import { probe, stageApp } from '../../support/http/stage-app.ts';
import { recordsThatStop } from '../../support/records/stopping.ts';

const OWN = 'https://auth.example.org';
const APPLICATION = 'https://app.example.org';
const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

const { start } = servicesOverOneDatabase();
const service = await start({ ALLOWED_ORIGINS_DEV: APPLICATION });

const post = ({ http }: TestService, path: string, origin = OWN) => http.post(path).type('form').set('Origin', origin);
const LOG_IN = { account: 'ada', password: 'wrong horse', once: 'a'.repeat(26) };

const LOG_IN_FORM = '/auth/log-in/passkey';
/** Errors of addresses for users, and to where their pages lead. */
const ERRORS: Readonly<Record<string, readonly [ask: () => Test, status: number, link: string]>> = {
  'an address without a page': [() => service.http.get('/auth/nowhere'), 404, '/auth/log-in'],
  'the address of a form': [() => service.http.get(LOG_IN_FORM), 405, '/auth/log-in'],
  'a target that is not allowed': [() => service.http.get('/auth/log-in?to=https://evil.test/'), 400, '/auth/log-in'],
  'a form of another site': [() => post(service, LOG_IN_FORM, 'https://evil.test').send(LOG_IN), 403, '/auth/log-in'],
  'a form of an application': [() => post(service, '/auth/register', APPLICATION).send(LOG_IN), 403, '/auth/register'],
  'a form of nobody': [() => service.http.post('/auth/register').type('form').send(LOG_IN), 403, '/auth/register'],
  'a form that is too large': [
    () => post(service, '/auth/register').send({ username: 'a'.repeat(20_000) }),
    413,
    '/auth/register',
  ],
  'a form of another type': [
    () => post(service, '/auth/forgot').type('text').send('username=ada'),
    415,
    '/auth/forgot',
  ],
  'a route of the API that is opened': [() => service.http.get('/auth/sessions'), 401, '/auth/log-in'],
};

/** Kinds of requests, and whether they get a page: always, or where there is one. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const KINDS: Readonly<Record<string, readonly [headers: Readonly<Record<string, string>>, page: boolean | 'there']>> = {
  'a navigation': [{ 'Sec-Fetch-Dest': 'document', Accept: BROWSER }, true],
  'a navigation in a frame': [{ 'Sec-Fetch-Dest': 'iframe', Accept: '*/*' }, true],
  'a browser that does not say so': [{ Accept: BROWSER }, 'there'],
  'a script': [{ 'Sec-Fetch-Dest': 'empty', Accept: BROWSER }, false],
  'a program': [{ Accept: '*/*' }, false],
};

describe.each(Object.entries(ERRORS))('%s', (name, [ask, status, link]) => {
  it.each(Object.entries(KINDS))('has the kind of answer that is for %s', async (_kind, [headers, page]) => {
    const answer = await ask().set(headers).expect(status);
    const isPage = page === true || (page === 'there' && !name.includes('API'));
    expect(answer.headers).toMatchObject({
      'content-type': isPage ? HTML : JSON_TYPE,
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      vary: expect.stringContaining('Sec-Fetch-Dest'),
      'svc-request-id': expect.any(String),
    });
    if (!isPage) expect(answer.body).toMatchObject({ success: false, context: { requestId: expect.any(String) } });
  });

  it('is a page that says what happened, what to do, and the id for the operator, in the language of the browser', async () => {
    const { text, headers } = await ask().set('Sec-Fetch-Dest', 'document').expect(status);
    expect(text).toContain(`<h1>${status === 404 ? 'There is no such page' : 'That did not work'}</h1>`);
    expect(text).toContain(`href="${link}"`);
    expect(text).toContain(`<code>${headers['svc-request-id']}</code>`);
    expect(headers['content-security-policy']).toContain(`form-action 'self' ${APPLICATION};`);
    expect(headers.vary).toContain('Accept-Language');
    const german = await ask().set({ 'Sec-Fetch-Dest': 'document', 'Accept-Language': 'de' }).expect(status);
    expect(german.text).toMatch(/<html lang="de".*Zur Anmeldung/s);
  });
});

describe('the page of an error of the service', () => {
  const secret = 'a secret of the cause';
  const limit = (retryAfter: number) => new AppError('CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', { retryAfter });
  it.each([
    ['a mistake', new Error(secret), 500, 'on our side', undefined],
    ['a database', new AppError('DB_QUERY_FAILED', { reason: secret }), 500, 'does not respond', undefined],
    ['a queue', httpFailure(503, { reason: secret, retryAfter: 1 }), 503, 'busy. Try again in 1 second.', '1'],
    ['a limit', limit(42), 429, 'Try again in 42 seconds.', '42'],
    ['a long limit', limit(290), 429, 'Try again in 5 minutes.', '290'],
  ])('leads to the same address, and has nothing of the cause: %s', async (_name, thrown, status, words, wait) => {
    const throws = () => {
      throw thrown;
    };
    const { http } = await stageApp([probe(throws, { path: '/auth/probe' })]);
    const { text, headers } = await http.get('/auth/probe').set('Sec-Fetch-Dest', 'document').expect(status);
    expect(text).toContain(words);
    expect(text).toMatch(/href="">Try again</);
    expect(text).not.toContain(secret);
    expect(headers['retry-after']).toBe(wait);
  });

  it('has no markup of the request', async () => {
    const markup = '<script>alert(1)</script>';
    const ask = service.http.get(`/auth/${encodeURIComponent(markup)}?to=${markup}`);
    const { text } = await ask.set({ 'Sec-Fetch-Dest': 'document', 'svc-request-id': markup }).expect(404);
    expect(text).not.toContain('<script>');
    expect(text).toContain('&#60;script&#62;');
  });

  it('is that of the service elsewhere', async () => {
    const { text } = await service.http.get('/users/me').set('Sec-Fetch-Dest', 'document').expect(401);
    expect(text).toContain('/errors/AUTH_TOKEN_MISSING"');
  });
});

describe('a form that is refused before it was read', () => {
  it('has what was typed after a limit, without passwords, and says when to try again', async () => {
    const limited = await start({ ALLOWED_ORIGINS_DEV: APPLICATION, RATE_LIMITS: 'global=off,strict=1/60,public=off' });
    const browser = limited.browser();
    const send = () => browser.post('/auth/log-in').type('form').set('Origin', OWN);
    const fields = { ...LOG_IN, to: `${APPLICATION}/notes` };
    await send().send(fields).expect(303);
    const { location = '' } = (await send().send(fields).expect(303)).headers;
    expect(location).toBe(`/auth/log-in?${new URLSearchParams({ to: fields.to, next: 'password', tandem: 'failed' })}`);
    const { text, headers } = await browser.get(location).expect(429);
    expect(text).toContain('value="ada"');
    expect(text).not.toContain(LOG_IN.password);
    expect(text).toMatch(/role="alert"[^>]*>Too many attempts\. Try again in (?:\d+ seconds|1 minute)\./);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  });

  it('is shown by another instance, too', async () => {
    const limited = await start({ RATE_LIMITS: 'global=off,strict=1/60,public=off' });
    const another = await start();
    await post(limited, '/auth/log-in').send(LOG_IN).expect(303);
    const { headers } = await post(limited, '/auth/log-in').send(LOG_IN).expect(303);
    const state = [headers['set-cookie'] ?? []].flat().map(cookiePair).join('; ');
    const { text } = await another.http.get('/auth/log-in').set('Cookie', state).expect(429);
    expect(text).toContain('value="ada"');
  });

  it('sets no cookie if it is of an application, and no form of the service', async () => {
    const { headers } = await post(service, '/auth/log-in', APPLICATION).send(LOG_IN).expect(403);
    expect(headers).not.toHaveProperty('set-cookie');
  });

  it('is counted with the requests of the API', async () => {
    const limited = await start({ RATE_LIMITS: 'global=off,strict=1/60,public=off' });
    await limited.http.post('/auth/register').send(aPerson()).expect(201);
    await post(limited, '/auth/register').send({}).expect(303);
    await limited.http.post('/auth/register').send(aPerson()).expect(429);
  });
});

it('a form whose handling fails has what was typed after a time-out, and works again', async () => {
  let release: () => void = () => undefined;
  const stuck = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isStuck = true;
  const slow = await start({ REQUEST_TIMEOUT_MS: '100' }, ({ users }) => ({
    users: {
      ...users,
      findByUsername: async (name) => {
        if (isStuck) await stuck;
        return users.findByUsername(name);
      },
    },
  }));
  const browser = slow.browser();
  const send = () => browser.post('/auth/log-in').type('form').set('Origin', OWN).send(LOG_IN);
  const { location = '' } = (await send().expect(303)).headers;
  const { text, headers } = await browser.get(location).expect(503);
  expect(text).toContain('value="ada"');
  expect(headers['retry-after']).toBe('1');
  isStuck = false;
  release();
  // The same form once more: it is no second click, since the first one had no result. On a busy machine a hash takes longer than the time-out.
  const again = async () => {
    await send().expect(303);
    return (await browser.get(location)).status;
  };
  await expect.poll(again, { timeout: 20_000 }).toBe(401);
});

describe('while the database does not answer', () => {
  const database = recordsThatStop();
  /** Without what they show next, they lead to the log-in. */
  const LEADING: readonly PageName[] = ['provider', 'second-factor'];
  const NAMES = Object.keys(PAGES) as PageName[];
  let failing: TestService;
  let cookie: string;
  beforeAll(async () => {
    failing = await startService(ALL_ROUTES, { storage: storageOver(database.records), hasher });
    ({ cookie } = await signUp(failing));
    database.stop();
  });
  // It throws if a code was not declared.
  afterAll(() => failing.close());

  it.each(NAMES)('the page %s is shown to everybody, unless it needs its visitor', async (name) => {
    const isForVisitors = PAGES[name].audience === 'visitor';
    const open = () => failing.http.get(PAGES[name].path).set('Sec-Fetch-Dest', 'document').redirects(0);
    const known = await open().set('Cookie', cookie);
    const unknown = await open();
    const shown = LEADING.includes(name) ? 303 : 200;
    expect([known.status, unknown.status]).toEqual(isForVisitors ? [500, 303] : [shown, shown]);
    if (isForVisitors) expect(known.text).toContain('<code>DB_<wbr>QUERY_<wbr>FAILED</code>');
    expect(failing.logs.filter(({ level }) => level === 'fatal')).toEqual([]);
  });

  it('each form, and the export, has an error that it declares', async () => {
    const others = failing.routes.filter(({ visitor, form, name }) => visitor && (form || name === 'export-page'));
    for (const { method, path } of others)
      for (const each of [cookie, ''])
        await failing.http[method === 'GET' ? 'get' : 'post'](path)
          .set({ Origin: OWN, Cookie: each })
          .type('form')
          .send({ once: 'a'.repeat(26) })
          .redirects(0);
    expect(others.length).toBeGreaterThan(NAMES.length);
    expect(failing.logs.filter(({ level }) => level === 'fatal')).toEqual([]);
  });
});

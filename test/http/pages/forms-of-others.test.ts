// Proves ASVS 7.6.2; website-3, website-9
import { describe, expect, it } from 'vitest';
import { formPath, PAGES, type PageName } from '../../../src/adapters/http/forms/flow.ts';
import { APP_LINK } from '../../support/http/app-login.ts';
import { servicesOverOneDatabase } from '../../support/http/auth-http.ts';
import { ORIGIN, OWN_PAGE_HEADERS, pathOfPage, registeredVisitor, visitorOf } from '../../support/http/page-visitor.ts';
import { aPerson } from '../../support/http/service.ts';
import { unescaped } from '../../support/http/shown-forms.ts';

const APP = 'https://app.example.org';
const GOOGLE = { OIDC_PROVIDERS: 'google', OIDC_GOOGLE_CLIENT_ID: 'tandem', OIDC_GOOGLE_CLIENT_SECRET: 'a-secret' };
const { start } = servicesOverOneDatabase();
const service = await start({
  ALLOWED_ORIGINS_DEV: APP,
  LOGIN_BY_CODE: 'on',
  PASSWORDS: 'optional',
  APP_LINKS: APP_LINK,
  ...GOOGLE,
});

const FORMS = (Object.keys(PAGES) as PageName[]).flatMap((page) =>
  Object.keys(PAGES[page].forms).map((form) => formPath(page, form)),
);
type Member = Awaited<ReturnType<typeof registeredVisitor>>;
const credentialsOf = ({ person }: Member) => ({ account: person.username, password: person.password });

describe('a form of another site', () => {
  const STRANGERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'another site': { Origin: 'https://evil.example' },
    'an application, which may use the API': { Origin: APP },
    'a page without an origin': { Origin: 'null' },
    'a frame without an origin': { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' },
    'another host that hides its origin': { Origin: 'null', 'Sec-Fetch-Site': 'same-site' },
    'a text that hides its origin': { Origin: 'null', 'Sec-Fetch-Site': 'none' },
    'another host of the site': { Origin: 'https://www.example.org' },
    'another scheme': { Origin: 'http://auth.example.org' },
    'two origins': { Origin: `${ORIGIN}, ${ORIGIN}` },
    'a page that hides its origin': {},
    'another site, without its origin': { 'Sec-Fetch-Site': 'cross-site' },
    'another host of the site, without its origin': { 'Sec-Fetch-Site': 'same-site' },
    'the address bar': { 'Sec-Fetch-Site': 'none' },
    'another site that says it is ours': { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'same-origin' },
  };
  it.each(Object.entries(STRANGERS))('of %s is refused at every page, whoever is logged in', async (_, headers) => {
    const member = await registeredVisitor(service);
    for (const path of FORMS) {
      const { status, headers: answered } = await member.post(path, { ...credentialsOf(member), once: '' }, headers);
      expect([status, answered['set-cookie'], answered.location], path).toEqual([403, undefined, undefined]);
    }
    expect((await member.open('/auth/account')).status).toBe(200);
  });

  it.each([
    [OWN_PAGE_HEADERS],
    [{ 'Sec-Fetch-Site': 'same-origin' }],
    [{ ...OWN_PAGE_HEADERS, 'Sec-Fetch-Site': 'same-origin' }],
    // Behind a proxy that adds `Referrer-Policy: no-referrer`.
    [{ Origin: 'null', 'Sec-Fetch-Site': 'same-origin' }],
  ])('is told from one of the service, which sends %j', async (headers) => {
    const credentials = credentialsOf(await registeredVisitor(service));
    const visitor = visitorOf(service);
    expect((await visitor.post('/auth/log-in', credentials, headers)).headers.location).toBe(
      '/auth/account?tandem=logged-in',
    );
    expect([...visitor.jar.keys()]).toContain('refresh_token');
  });

  it('shares a path with the API, which asks for its own token there and sets no page', async () => {
    const member = await registeredVisitor(service);
    const cookie = [...member.jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const stepUp = { password: member.person.password };
    const asJson = service.http
      .post('/auth/step-up')
      .set({ Cookie: cookie, ...OWN_PAGE_HEADERS })
      .send(stepUp);
    expect((await asJson).body.code).toBe('AUTH_TOKEN_MISSING');
    const { body } = await service.http.post('/auth/login').send(credentialsOf(member)).expect(200);
    const bearer = { Authorization: `Bearer ${body.data.accessToken}` };
    await service.http.post('/auth/step-up').set(bearer).send(stepUp).expect(200);
    // A form has no other user than that of its cookie.
    const asForm = await visitorOf(service).post('/auth/step-up', stepUp, { ...OWN_PAGE_HEADERS, ...bearer });
    expect(asForm.headers.location).toBe(pathOfPage('log-in', '/auth/step-up'));
  });
});

describe('what a visitor came for', () => {
  const GOOD = [
    [`${APP}/notes`, `${APP}/notes?tandem=logged-in`],
    [`${APP}/notes?a=1#b`, `${APP}/notes?a=1&tandem=logged-in#b`],
    ['/auth/account/history', '/auth/account/history?tandem=logged-in'],
    // A URL has no line breaks, and neither has the header.
    [`${APP}/\r\nSet-Cookie:x`, `${APP}/Set-Cookie:x?tandem=logged-in`],
  ];
  const BAD = [
    ...['https://evil.example/', '//evil.example/', 'https:evil.example', '/\\evil.example', '\\\\evil.example'],
    ...[`${APP}.evil.example/`, `${APP}@evil.example/`, 'https://ada:x@app.example.org/', `blob:${APP}/notes`],
    ...['javascript:alert(1)', 'data:text/html,x', `${ORIGIN}/auth/clear-cookie`, '/auth/clear-cookie', '/notes'],
    ...['http://app.example.org/', `${APP}:8443/`, '/auth/account/../clear-cookie', '/auth/account?x', ' '],
    ...[`${APP}/${'x'.repeat(2_000)}`, '/auth/account/history/', '/AUTH/ACCOUNT'],
  ];

  it.each(GOOD)('is %s, after a log-in and for who is logged in', async (to, location) => {
    const credentials = credentialsOf(await registeredVisitor(service));
    const visitor = visitorOf(service);
    await visitor.open(pathOfPage('log-in', to));
    await visitor.submit('log-in.log-in', { ...credentials, password: 'wrong' });
    expect(visitor.answers.at(-1)?.headers.location).toBe(`${pathOfPage('log-in', to)}&next=password&tandem=failed`);
    await visitor.follow();
    await visitor.submit('log-in.log-in', credentials);
    expect(visitor.answers.at(-1)?.headers.location).toBe(location);
    await visitor.open(pathOfPage('log-out', to));
    await visitor.submit('log-out.log-out');
    expect(visitor.answers.at(-1)?.headers.location).toBe(location?.replace('logged-in', 'logged-out'));
  });

  it.each(BAD)('is not %s: in the address, in the field, or in both', async (to) => {
    const credentials = credentialsOf(await registeredVisitor(service));
    const visitor = visitorOf(service);
    const page = await visitor.open(pathOfPage('log-in', to));
    expect([page.status, page.headers.location]).toEqual([400, undefined]);
    // The field was changed after the page was made.
    await visitor.open('/auth/log-in');
    for (const [path, fields] of [
      ['/auth/log-in', { ...credentials, to }],
      [pathOfPage('log-in', to), credentials],
      [pathOfPage('log-in', to), { ...credentials, to: `${APP}/notes` }],
    ] as const) {
      const { status, headers } = await visitor.post(path, fields);
      expect([200, 303, 400]).toContain(status);
      const location = new URL(headers.location ?? '/', ORIGIN);
      expect([ORIGIN, APP]).toContain(location.origin);
      expect(unescaped(location.searchParams.get('to') ?? '')).not.toBe(to);
      expect(location.href).not.toContain('evil.example');
      if (to.trim() !== '' && 'to' in fields && fields.to === to)
        expect([...visitor.jar.keys()]).not.toContain('refresh_token');
    }
  });

  it('is kept over a registration, a second attempt and the pages in between', async () => {
    const to = `${APP}/notes`;
    const visitor = visitorOf(service);
    const { text } = await visitor.open(pathOfPage('log-in', to));
    const [, link = ''] = /href="(\/auth\/register[^"]*)"/.exec(text) ?? [];
    await visitor.open(unescaped(link));
    await visitor.submit('register.register', { ...aPerson(), password: 'short' });
    await visitor.follow();
    await visitor.submit('register.register', aPerson());
    expect(visitor.answers.at(-1)?.headers.location).toBe(`${to}?tandem=logged-in`);
  });
});

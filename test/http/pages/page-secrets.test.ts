// Proves ASVS 3.4.3; website-10
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { formPath, PAGES, type Page, type PageName } from '../../../src/adapters/http/forms/flow.ts';
import { codeAt } from '../../support/authenticator-app.ts';
import { aPasskey } from '../../support/builders.ts';
import { storeLink } from '../../support/http/account.ts';
import { APP_LINK, anApp } from '../../support/http/app-login.ts';
import { servicesOverOneDatabase } from '../../support/http/auth-http.ts';
import { SHOWN_SECRET, startApp } from '../../support/http/page-factors.ts';
import { locationIn, ORIGIN, pathOfPage, registeredVisitor, visitorOf } from '../../support/http/page-visitor.ts';
import { unescaped } from '../../support/http/shown-forms.ts';

const APPS = ['https://app.example.org', 'http://localhost:5173'];
const { start } = servicesOverOneDatabase();
const env = { BRAND_LOGO_URL: 'https://cdn.example.com/logo.svg', BASE_URL: ORIGIN, LOGIN_BY_CODE: 'on' };
const service = await start({ ...env, ALLOWED_ORIGINS_DEV: APPS.join(','), APP_LINKS: APP_LINK });
const NAMES = Object.keys(PAGES) as PageName[];

describe('each page', () => {
  it('is sent to a client that says to have any version of it: none is stored', async () => {
    const { status, text } = await visitorOf(service).open('/auth/log-in', { 'If-None-Match': '*' });
    expect([status, text]).toEqual([200, expect.stringContaining('<form')]);
  });

  it.each(NAMES)('%s loads from the service alone, sends forms to it, is in no frame and in no cache', async (name) => {
    const visitor = await registeredVisitor(service);
    if (PAGES[name].audience !== 'visitor') visitor.jar.clear();
    const leading = name === 'provider' ? '?next=%2Fauth%2Faccount' : '';
    const path = pathOfPage(name, name === 'app' ? anApp().to : undefined) + leading;
    const { status, headers, text } = await visitor.open(path);
    if (name === 'second-factor')
      return expect([status, headers.location]).toEqual([303, '/auth/log-in?tandem=failed']);
    expect(status).toBe(200);
    expect(headers['content-security-policy']?.split('; ').sort()).toEqual([
      ...["base-uri 'none'", "connect-src 'self'", "default-src 'none'", `form-action 'self' ${APPS.join(' ')}`],
      ...["frame-ancestors 'none'", "img-src 'self' https://cdn.example.com", "require-trusted-types-for 'script'"],
      ...["script-src 'self'", "style-src 'self'", "trusted-types 'none'"],
    ]);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'content-type': 'text/html; charset=utf-8',
    });
    expect(headers.vary).toMatch(/Accept-Language/);
    // A link loads nothing.
    expect(text.replaceAll(`<a href="${APPS[0]}">`, '')).not.toMatch(
      /<style|\sstyle=|\son\w+=|<script(?![^>]* src="\/user-pages\.js">)|javascript:|https?:\/\/(?!cdn\.)/i,
    );
  });

  it('does not renew the session: a refresh works after many of them, and nothing is written', async () => {
    const visitor = await registeredVisitor(service);
    const stored = () => service.ports.sessions.listByUser(visitor.user.id, Date.now());
    const [before, cookie] = [await stored(), visitor.jar.get('refresh_token')];
    for (const name of NAMES) {
      const { headers } = await visitor.open(PAGES[name].path);
      // A second step that nobody has begun says so on the next page.
      expect(
        [headers['set-cookie'] ?? []].flat().filter((line) => !/^(?:page_state|passkey_offered)=/.test(line)),
        name,
      ).toEqual([]);
    }
    expect([await stored(), visitor.jar.get('refresh_token')]).toEqual([before, cookie]);
    await service.http.post('/auth/refresh-token').set('Cookie', `refresh_token=${cookie}`).expect(200);
  });
});

describe('secrets', () => {
  it('are in no address, no log and no page that is loaded again, over a whole walk', async () => {
    const member = await registeredVisitor(service);
    const [oldPassword, newPassword] = [member.person.password, 'staple horse of this walk'];
    // Otherwise the first link that proves the address removes the app.
    await service.ports.users.update(member.user.id, { emailVerifiedAt: 1, now: Date.now() });
    await member.open('/auth/account/factors');
    const secret = await startApp(member);
    const shown = SHOWN_SECRET.exec(member.answers.at(-1)?.text ?? '')?.[1] ?? expect.unreachable();
    await member.submit('factors.app', { code: codeAt(secret, Date.now()) });
    const codes = [...(await member.follow()).text.matchAll(/<code>([\w-]{29})<\/code>/g)].map(([, code = '']) => code);
    expect([secret.length, codes.length]).toEqual([32, 10]);
    const later = member.answers.length;
    await member.open('/auth/account');
    await member.submit('account.password', { currentPassword: `${oldPassword}x`, newPassword });
    await member.follow();
    await member.submit('account.password', { currentPassword: oldPassword, newPassword });
    await member.follow();
    const token = await storeLink(service, {
      userId: member.user.id,
      purpose: 'password-reset',
      email: member.user.email,
    });
    await member.open('/auth/link/password-reset');
    await member.submit('password-reset.password-reset', {
      token: `${ORIGIN}/auth/link/password-reset#token=${token}`,
      newPassword,
    });
    await member.follow();
    const visitor = visitorOf(service);
    await visitor.open('/auth/log-in');
    await visitor.submit('log-in.log-in', { account: member.person.username, password: newPassword });
    await visitor.follow();
    await visitor.submit('second-factor.recovery', { recoveryCode: codes[0] ?? '' });
    await visitor.follow();
    for (const name of NAMES) await visitor.open(PAGES[name].path);

    const tokens = [...member.answers, ...visitor.answers]
      .flatMap((answer) => answer.get('Set-Cookie') ?? [])
      .filter((line) => !/^(?:passkey_offered|used_last)=/.test(line))
      .map((line) => line.replace(/;.*/, '').replace(/^[^=]*=/, ''))
      .filter((value) => value !== '');
    const secrets = [oldPassword, newPassword, secret, shown, ...codes, token, ...tokens];
    const bodies = [...member.answers.slice(later), ...visitor.answers].map(({ text }) => unescaped(text));
    const locations = [...member.answers, ...visitor.answers].map(({ headers }) =>
      decodeURIComponent(headers.location ?? ''),
    );
    for (const text of [...bodies, ...locations, ...service.logs.map((line) => JSON.stringify(line))])
      expect(secrets.filter((each) => text.includes(each))).toEqual([]);
  });

  it('are escaped where they are names: of a device, a passkey, an account', async () => {
    const markup = `"'\`<script>alert(1)</script>&lt;img src=x onerror=alert(1)>`;
    const member = await registeredVisitor(service, { 'User-Agent': markup });
    const { ports } = service;
    await ports.records.insert('passkeys', { ...aPasskey({ userId: member.user.id }), name: markup });
    await ports.users.update(member.user.id, { username: markup, now: Date.now() });
    for (const path of ['/auth/account', '/auth/account/factors', '/auth/account/history']) {
      const { status, text } = await member.open(path);
      expect(status).toBe(200);
      expect(/.{80}(<script>|<img src=x).{50}/s.exec(text)?.[0]).toBeUndefined();
    }
    expect(unescaped((await member.open('/auth/account/factors')).text)).toContain(markup);
    const visitor = visitorOf(service);
    await visitor.open('/auth/log-in');
    await visitor.submit('log-in.log-in', { account: markup, password: 'x' });
    const { text } = await visitor.follow();
    expect(text).not.toMatch(/<script>|<img src=x/);
    expect(visitor.shown('log-in.log-in')[0]?.fields.account).toBe(markup);
  });
});

describe('a form and its route', () => {
  /** Bodies that the API refuses, as a form can send them. */
  const BAD: Readonly<Record<string, string>> = {
    ...{ empty: '', 'a blank': ' ', short: 'x', long: 'x'.repeat(300), 'very long': 'é'.repeat(600) },
    ...{ 'a line break': 'ada\r\nbob', NUL: 'ada\0lovelace', markup: '<b>ada</b>', 'a number': '12345678' },
    ...{ emoji: '😀😀😀😀😀😀', 'an object': '{"a":1}', 'an array': '["a"]', null: 'null' },
    ...{ true: 'true', 'an email': 'ada@', spaces: '        ' },
  };
  const FORMS = NAMES.flatMap((page) =>
    Object.entries((PAGES[page] as Page).forms).map(([name, form]) => ({ page, name, form })),
  );
  const TYPED = FORMS.filter(
    ({ page, form }) =>
      PAGES[page].audience !== 'visitor' &&
      form.submits !== 'name-account' &&
      form.fields.some((each) => each !== 'credential'),
  );

  it.each(TYPED)('$page $name: have the same problems with the same fields', async ({ page, name, form }) => {
    const route = service.routes.find((each) => each.name === form.submits) ?? expect.unreachable();
    const fields = form.fields.filter((field) => field !== 'credential' && field !== 'remember');
    for (const [kind, text] of Object.entries(BAD)) {
      // Without an empty field, as a browser that has none: JSON would send a text.
      const body = Object.fromEntries(fields.filter(() => text !== '').map((field) => [field, text]));
      const expected = v.safeParse(route.request.body ?? v.unknown(), body);
      if (expected.success) continue;
      const api = await service.http[route.method.toLowerCase() as 'post'](route.path).send(body);
      const details: { field: string }[] = api.body.details ?? [];
      // What the page alone needs.
      const needed = text === '' ? (form.requiredField ?? []) : [];
      const problems = [...new Set([...details.map(({ field }) => field), needed].flat())].toSorted();
      const visitor = visitorOf(service);
      await visitor.post(formPath(page, name), Object.fromEntries(fields.map((field) => [field, text])));
      const shown = await visitor.follow();
      if (locationIn(shown) === '/auth/log-in') continue;
      expect(shown.status, kind).toBe(api.status);
      const marked = [...shown.text.matchAll(/<input\b[^>]* name="(\w+)"[^>]* aria-invalid="true"/g)].map(
        ([, each]) => each,
      );
      expect(marked.filter((each) => fields.includes(`${each}`)).toSorted(), kind).toEqual(problems);
    }
  });
});

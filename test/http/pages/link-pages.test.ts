// Proves ASVS 6.2.6, 6.2.7; mail-5
import { describe, expect, it } from 'vitest';
import { PAGE_PURPOSES } from '../../../src/domain/link.ts';
import { PASSWORD_MIN_CODE_POINTS } from '../../../src/domain/password.ts';
import { linksOf, storeLink } from '../../support/http/account.ts';
import { servicesOverOneDatabase, signUp } from '../../support/http/auth-http.ts';
import { pathOfPage, visitorOf } from '../../support/http/page-visitor.ts';
import { aPerson } from '../../support/http/service.ts';
import { unescaped } from '../../support/http/shown-forms.ts';

const PAGES = PAGE_PURPOSES.map((purpose) => `/auth/link/${purpose}`);

const { start } = servicesOverOneDatabase();

describe('the pages for links in mail', () => {
  it.each(PAGES)('%s is the same with any query, which some mail programs add, and changes nothing', async (path) => {
    const service = await start();
    const { user } = await signUp(service);
    const stored = await linksOf(service, user.id);
    const page = async (query: string) => {
      const { text } = await service.http.get(path + query).expect(200);
      // The number of each form.
      return text.replaceAll(/name="once" value="[\w-]+"/g, '');
    };
    expect(await page('?utm_source=mail&to=//evil.example&token=abc')).toBe(await page(''));
    expect(await linksOf(service, user.id)).toEqual(stored);
  });

  it.each([
    ['/', ''],
    ['/?utm_source=mail', '?utm_source=mail'],
    ['%23token=Ab_c-1', '#token=Ab_c-1'],
    ['/%23token=Ab_c-1?utm_source=mail', '#token=Ab_c-1'],
    ['%23token=Ab_c-1&email=ada%40example.org', '#token=Ab_c-1&email=ada%40example.org'],
  ])('are where an address leads that a mail program has changed: %s', async (changed, rest) => {
    const { http, logs } = await start();
    for (const page of [...PAGES, '/auth/log-in']) {
      const { headers } = await http.get(page + changed).expect(303);
      expect(new URL(headers.location ?? '', `http://example.org/below${page}${changed}`).href).toBe(
        `http://example.org/below${page}${rest}`,
      );
    }
    expect(JSON.stringify(logs)).not.toContain('Ab_c-1');
  });

  it.each(['/auth/log-in%23evil', '/auth/login/', '/users/me/', '/auth/link/', '//auth/log-in/', '/auth/link/none/'])(
    'are not where %s leads',
    async (path) => {
      await (await start()).http.get(path).expect(404);
    },
  );

  it('mask the new password, which can be pasted and filled in', async () => {
    const { http } = await start();
    const { text: page } = await http.get('/auth/link/password-reset').expect(200);
    const { text: script } = await http.get('/user-pages.js').expect(200);
    const [field = ''] = /<input[^>]*name="newPassword"[^>]*>/.exec(page) ?? [];
    expect(field).toContain('type="password"');
    expect(field).toContain('autocomplete="new-password"');
    expect(field + script).not.toMatch(/paste|readonly/i);
  });

  it.each([
    ['/auth/link/password-reset', 'password-reset-newPassword'],
    ['/auth/register', 'register-password'],
  ])('say the rules of a password before the first try: %s', async (path, id) => {
    const { text } = await (await start()).http.get(path).expect(200);
    expect(text).toContain(`aria-describedby="${id}-hint"`);
    expect(text).toMatch(new RegExp(`id="${id}-hint">At least ${PASSWORD_MIN_CODE_POINTS} characters`));
  });

  it('lead over the log-in to the first website of the allow-list, and nowhere that their address names', async () => {
    const origins = 'capacitor://localhost,https://app.example.org,https://other.example.org';
    const service = await start({ ALLOWED_ORIGINS_DEV: origins, EMAIL_VERIFICATION: 'required' });
    const [visitor, person] = [visitorOf(service), aPerson()];
    await service.http.post('/auth/register').send(person).expect(202);
    const { id: userId, email } = (await service.ports.users.findByEmail(person.email)) ?? expect.unreachable();
    const token = await storeLink(service, { userId, purpose: 'email-verification', email });
    await visitor.open('/auth/link/email-verification?to=https://evil.example/');
    await visitor.submit('email-verification.email-verification', { token });
    const { text } = await visitor.follow();
    const [, next = ''] = /class="button" href="([^"]*)"/.exec(text) ?? [];
    expect(unescaped(next)).toBe(pathOfPage('log-in', 'https://app.example.org'));
    await visitor.open(next);
    await visitor.submit('log-in.log-in', { account: person.username, password: person.password });
    const home = 'https://app.example.org/?tandem=logged-in';
    expect(visitor.answers.at(-1)?.headers.location).toBe(home);
    // Who is logged in already goes on at once.
    expect((await visitor.open(next)).headers.location).toBe(home);
  });

  it.each(PAGE_PURPOSES)('have no button for a link that is not valid any more: %s', async (purpose) => {
    const visitor = visitorOf(await start({ ALLOWED_ORIGINS_DEV: 'https://app.example.org' }));
    const form = `${purpose}.${purpose}`;
    await visitor.open(`/auth/link/${purpose}`);
    await visitor.submit(form, { token: 'x'.repeat(43), newPassword: 'another horse battery' });
    const { status, text } = await visitor.follow();
    expect([status, visitor.shown(form)]).toEqual([400, []]);
    // Most links that are opened twice have confirmed the address.
    const goesOn = unescaped(text).includes(pathOfPage('log-in', 'https://app.example.org'));
    expect([goesOn, text.includes('confirmed your address before')]).toEqual(
      Array(2).fill(purpose === 'email-verification'),
    );
    await visitor.open(`/auth/link/${purpose}`);
    expect(visitor.shown(form)).toHaveLength(1);
  });

  it.each(PAGE_PURPOSES)('are where links of version 1.0 lead: %s', async (purpose) => {
    const { http } = await start({ BASE_URL: 'https://example.org/tandem' });
    const { headers } = await http.get(`/account/${purpose}?utm_source=mail`).expect(303);
    expect(headers.location).toBe(`https://example.org/tandem/auth/link/${purpose}`);
  });

  it.each([
    ['links lead to pages of a front end', { ACCOUNT_PAGES_URL: 'https://app.example.org/account' }, {}],
    ['there is no mail', {}, { mailer: null }],
  ])('are not there when %s', async (_when, env, ports) => {
    const { http } = await start({ ACCOUNT_PAGES: 'off', ...env }, () => ports);
    for (const path of [...PAGES, '/user-pages.js', '/account/not-me']) await http.get(path).expect(404);
  });
});

import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { brandStyle } from '../../../src/adapters/http/pages/layout.ts';
import { memoryStorage } from '../../../src/adapters/records/memory.ts';
import { registeredVisitor, visitorOf } from '../../support/http/page-visitor.ts';
import { aPerson, startService, type TestService } from '../../support/http/service.ts';

const APPLICATION = 'https://app.example.org';
const plain = await startService({}, { storage: memoryStorage() });
const env = {
  BRAND_NAME: 'Tom & Jerry',
  BRAND_LOGO_URL: 'https://cdn.example.net/a/logo.svg?v=1',
  BRAND_LOGO_DARK_URL: 'https://dark.example.net/logo.svg',
  BRAND_ICON_URL: 'https://cdn.example.net/icon.png',
  BRAND_TERMS_URL: 'https://example.net/terms',
  BRAND_SUPPORT_URL: 'mailto:help@example.net',
  BRAND_COLOR: '#FFDD00',
  DEFAULT_LOCALE: 'de-CH',
  ALLOWED_ORIGINS_DEV: APPLICATION,
};
const branded = await startService(env, { storage: memoryStorage() });
afterAll(async () => {
  await plain?.close();
  await branded?.close();
});

const pageOf = async (service: TestService, name: string, accepted?: string) => {
  const request = service.http.get(`/auth/link/${name}`);
  return accepted === undefined ? request.expect(200) : request.set('Accept-Language', accepted).expect(200);
};

describe('the language of the pages for links', () => {
  it.each([
    ['de', 'de'],
    ['de-AT, en', 'de'],
    ['en-GB, de', 'en'],
    ['da, de;q=0.5', 'de'],
    ['da', 'en'],
    [undefined, 'en'],
    ['*', 'en'],
    [`${'x'.repeat(2_000)}, de`, 'en'],
  ])('is for Accept-Language %j: %s', async (accepted, locale) => {
    const { text, headers } = await pageOf(plain, 'password-reset', accepted);
    expect(text).toContain(`<html lang="${locale}" `);
    expect(headers.vary).toMatch(/\bAccept-Language\b/);
  });

  it('is that of the user for a browser that asks for none of the pages, once somebody is logged in', async () => {
    const visitor = await registeredVisitor(plain);
    const languages = async (accepted: string) =>
      /<html lang="(.*?)"/.exec((await visitor.open('/auth/account', { 'Accept-Language': accepted })).text)?.[1];
    await visitor.open('/auth/account');
    await visitor.submit('account.language', { locale: 'de' });
    expect(await languages('da')).toBe('de');
    expect(await languages('en')).toBe('en');
  });

  it('is the one that a visitor chooses there, through a whole flow, and of the mails to a new account', async () => {
    const visitor = visitorOf(plain);
    const to = new URLSearchParams({ to: '/auth/account/history' });
    const { text } = await visitor.open(`/auth/register?${to}`);
    expect(text).toContain(`<a href="?${to}&#38;locale=de" hreflang="de" lang="de" dir="auto">Deutsch</a>`);
    expect((await visitor.open(`/auth/register?${to}&locale=de`)).text).toContain('<html lang="de" ');
    expect((await visitor.open('/auth/log-in')).text).toContain('<html lang="de" ');
    const { username, email, password } = aPerson();
    await visitor.open('/auth/register');
    await visitor.submit('register.register', { username, email, password });
    const { text: account } = await visitor.open('/auth/account');
    expect(account).toContain('<html lang="de" ');
    expect(account).toMatch(/<option value="de" [^>]*selected/);
    expect((await visitor.open('/auth/account?locale=xx')).text).toContain('<html lang="de" ');
  });

  it('cannot be chosen where something is shown once, which would be gone', async () => {
    const visitor = await registeredVisitor(plain);
    await visitor.open('/auth/account/factors');
    await visitor.submit('factors.start-app');
    expect((await visitor.follow()).text).not.toContain('hreflang');
  });

  it('is by default that of DEFAULT_LOCALE', async () => {
    expect((await pageOf(branded, 'password-reset', 'da')).text).toContain('<html lang="de" ');
    expect((await pageOf(branded, 'password-reset', 'en')).text).toContain('<html lang="en" ');
  });
});

describe('the product on the pages', () => {
  it('is named by its host, without settings', async () => {
    const { text, headers } = await pageOf(plain, 'not-me');
    expect(text).toContain('<header class="product">auth.example.org</header>');
    expect(text).toContain('<title>You did not register? · auth.example.org</title>');
    expect(text).not.toContain('Tandem');
    expect(headers['content-security-policy']).toContain("img-src 'self';");
    expect((await plain.http.get('/user-pages.css').expect(200)).text).not.toMatch(/:root \{\n {2}--button/);
  });

  it('is that of the settings: name, logo, icon, links, colour, and the way back to the application', async () => {
    const { text, headers } = await pageOf(branded, 'not-me', 'de');
    expect(text).toContain('<img src="https://cdn.example.net/a/logo.svg?v=1" alt="Tom &#38; Jerry"></picture>');
    expect(text).toContain('<source media="(prefers-color-scheme: dark)" srcset="https://dark.example.net/logo.svg">');
    expect(text).toContain('<link rel="icon" href="https://cdn.example.net/icon.png">');
    expect(
      [...text.matchAll(/<a href="([^"]*)">(?:Nutzungsbedingungen|Datenschutz|Hilfe)</g)].map(([, to]) => to),
    ).toEqual(['https://example.net/terms', 'mailto:help@example.net']);
    expect(text).toContain('· Tom &#38; Jerry</title>');
    expect(headers['content-security-policy']).toContain(
      "img-src 'self' https://cdn.example.net https://dark.example.net;",
    );
    expect((await branded.http.get('/user-pages.css').expect(200)).text).toMatch(
      /:root \{\n {2}--button: #ffdd00;\n {2}--on-button: #000000;\n {2}--radius: 8px;\n\}\n$/,
    );
  });

  it('is on the pages of their errors, too, without the version of the service', async () => {
    const env = { BRAND_NAME: 'Acme', RATE_LIMITS: 'global=1/60,strict=100/60,public=100/60' };
    const service = await startService(env, { storage: memoryStorage() });
    onTestFinished(service.close);
    await service.http.get('/auth/link/not-me').expect(200);
    for (const [accepted, title] of [
      ['en', 'Too many requests'],
      ['de', 'Zu viele Anfragen'],
    ] as const) {
      const request = service.http.get('/auth/link/not-me').set('Accept', 'text/html').set('Accept-Language', accepted);
      const { text, headers } = await request.expect(429);
      expect(text).toContain(`<html lang="${accepted}"`);
      expect(text).toContain(`<h1>${title}</h1>`);
      expect(text).toContain('<header class="product">Acme</header>');
      expect(text).not.toContain('Tandem');
      expect(headers.vary).toMatch(/\bAccept-Language\b/);
    }
  });
});

describe('the colour of the buttons', () => {
  const channel = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const luminance = (color: string) =>
    [0.2126, 0.7152, 0.0722].reduce(
      (sum, weight, at) => sum + weight * channel(Number.parseInt(color.slice(1 + 2 * at, 3 + 2 * at), 16) / 255),
      0,
    );
  const contrast = (a: string, b: string) => {
    const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };

  // WCAG 2.2 §1.4.3.
  it('has a text that can be read on it, whatever it is', () => {
    const steps = ['00', '33', '66', '75', '76', '77', '99', 'bc', 'ff'];
    for (const red of steps)
      for (const green of steps)
        for (const blue of steps) {
          const color = `#${red}${green}${blue}`;
          const [, text = ''] = /--on-button: (#\w{6});/.exec(brandStyle({ name: '', logoUrl: null, color })) ?? [];
          expect([color, contrast(color, text) >= 4.5]).toEqual([color, true]);
        }
  });
});

import { describe, expect, it } from 'vitest';
import type { MailValue } from '../../../src/application/mail/kinds.ts';
import { writeMail } from '../../../src/application/mail/write-mail.ts';
import { builtInTemplates } from '../../../src/infrastructure/mail/template-files.ts';

const builtIn = await builtInTemplates();
const LINK = 'https://auth.example.com/account/password-reset#token=abc';
const VALUES: Readonly<Record<string, MailValue>> = { link: LINK, validFor: { duration: 1_800_000 } };

type Own = Readonly<Record<string, string>>;
type Reader = { readonly locale?: string | null; readonly defaultLocale?: string };

const resetMail = (own: Own = {}, { locale = null, defaultLocale = 'en' }: Reader = {}) =>
  writeMail(
    new Map([...builtIn, ...Object.entries(own)]),
    { brand: 'Tom & Jerry', defaultLocale },
    { template: 'password-reset', values: VALUES, locale },
  );

describe('the language of a mail', () => {
  it.each([
    ['de-AT', 'en', 'Setzen Sie'],
    ['de', 'en', 'Setzen Sie'],
    ['fr', 'en', 'Reset your'],
    ['fr-CA', 'de', 'Setzen Sie'],
    [null, 'de-CH', 'Setzen Sie'],
    [null, 'en', 'Reset your'],
    ['en-GB', 'de', 'Reset your'],
    ['fr', 'it', 'Reset your'],
  ])('is for a reader of %s, with the default %s: %s', (locale, defaultLocale, subject) => {
    expect(resetMail({}, { locale, defaultLocale }).subject).toMatch(new RegExp(`^${subject}`));
  });

  it('is that of the nearest template, with the times and durations of the reader', () => {
    const own = { 'de-AT/password-reset.txt': 'Servus\n\n{{link}}\n\n{{validFor}}\n' };
    expect(resetMail(own, { locale: 'de-AT' })).toMatchObject({ subject: 'Servus' });
    expect(resetMail(own, { locale: 'de' }).subject).toMatch(/^Setzen Sie/);
    expect(resetMail(own, { locale: 'de-AT' }).text).toContain('Antworten darauf liest\nniemand');
    expect(resetMail(own, { locale: 'de-AT' }).html).toContain('<html lang="de-AT">');
  });
});

describe("one's own templates", () => {
  it('take the place of the built-in ones, file by file', () => {
    const own = { 'de/password-reset.txt': 'Neu bei {{brand}}\n\nHier:\n{{link}}\n' };
    const mail = resetMail(own, { locale: 'de' });
    expect(mail.subject).toBe('Neu bei Tom & Jerry');
    expect(mail.text).toBe(
      `Hier:\n${LINK}\n\nDiese Nachricht wurde von Tom & Jerry gesendet. Antworten darauf liest\nniemand.\n`,
    );
    expect(mail.html).toContain(`<p><a href="${LINK}">Hier</a></p>`);
    expect(mail.html).toContain('<title>Neu bei Tom &#38; Jerry</title>');
    expect(resetMail(own).subject).toMatch(/^Reset your/);
  });

  it('may have an HTML of their own, within the layout', () => {
    const own = {
      'en/password-reset.html': '<h1>{{brand}}</h1><a class="button" href="{{link}}">Go</a>',
      'en/layout.html': '<!doctype html><html lang="{{locale}}"><title>{{subject}}</title><main>{{content}}</main>',
    };
    const mail = resetMail(own);
    expect(mail.html).toBe(
      `<!doctype html><html lang="en"><title>Reset your password at Tom &#38; Jerry</title><main><h1>Tom &#38; Jerry</h1><a class="button" href="${LINK}">Go</a></main>`,
    );
    expect(mail.text).toContain('To choose a new password');
  });

  it('have text that is escaped in HTML, and values that are not templates', () => {
    const own = { 'en/password-reset.txt': 'A & B\n\n1 < 2 & "{{validFor}}"\n\n{{link}}\n' };
    expect(resetMail(own).html).toContain('<p>1 &#60; 2 &#38; &#34;30 minutes&#34;</p>');
    const hostile = { ...VALUES, username: '{{link}} <b>{{brand}}</b>' };
    const mail = writeMail(
      new Map([...builtIn, ['en/email-change.txt', '{{brand}}\n\n{{username}}\n\n{{link}}\n']]),
      { brand: 'Acme', defaultLocale: 'en' },
      { template: 'email-change', values: hostile, locale: null },
    );
    expect(mail.text).toContain('{{link}} <b>{{brand}}</b>\n');
    expect(mail.html).toContain('<p>{{link}} &#60;b&#62;{{brand}}&#60;/b&#62;</p>');
  });

  it('may have the line ends of Windows', () => {
    expect(resetMail({ 'en/password-reset.txt': 'Subject\r\n\r\nText\r\n\r\n{{link}}\r\n' })).toMatchObject({
      subject: 'Subject',
      text: expect.stringMatching(/^Text\n\nhttps/),
    });
  });
});

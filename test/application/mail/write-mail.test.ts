import { describe, expect, it } from 'vitest';
import { type MailTemplates, type MailValue, writeMail } from '../../../src/application/mail/write-mail.ts';
import { type TextTree, textsOver } from '../../../src/application/templates.ts';
import type { MailName } from '../../../src/domain/event-table.ts';
import { MAIL_FILES } from '../../../src/infrastructure/template-files.ts';

const builtIn = await MAIL_FILES.builtIn();
const LINK = 'https://auth.example.com/account/password-reset#token=abc';
const VALUES: Readonly<Record<string, MailValue>> = { link: LINK, validFor: { duration: 1_800_000 } };

/** Mails of an operator by their languages. */
type Own = Readonly<Record<string, Partial<Record<MailName, readonly string[]>>>>;
type Reader = { readonly locale?: string | null; readonly defaultLocale?: string };

const withTexts = (own: Readonly<Record<string, TextTree>>): MailTemplates => {
  const get = (locale: string) => {
    const texts = builtIn.texts.get(locale);
    return own[locale] === undefined ? texts : textsOver({ ...texts }, own[locale]);
  };
  return { ...builtIn, texts: { get } };
};
const withOwn = (own: Own): MailTemplates =>
  withTexts(Object.fromEntries(Object.entries(own).map(([locale, mails]) => [locale, { mails }])));
const resetMail = (own: Own = {}, { locale = null, defaultLocale = 'en' }: Reader = {}, templates = withOwn(own)) =>
  writeMail(templates, { brand: 'Tom & Jerry', defaultLocale }, { template: 'password-reset', values: VALUES, locale });

describe('the language of a mail', () => {
  it.each([
    ['de-AT', 'en', 'Setzen Sie'],
    ['de', 'en', 'Setzen Sie'],
    ['da', 'en', 'Reset your'],
    ['da-DK', 'de', 'Setzen Sie'],
    [null, 'de-CH', 'Setzen Sie'],
    [null, 'en', 'Reset your'],
    ['en-GB', 'de', 'Reset your'],
    ['da', 'fi', 'Reset your'],
  ])('is for a reader of %s, with the default %s: %s', (locale, defaultLocale, subject) => {
    expect(resetMail({}, { locale, defaultLocale }).subject).toMatch(new RegExp(`^${subject}`));
  });

  it('is that of the nearest template, with the times and durations of the reader', () => {
    const own = { 'de-AT': { 'password-reset': ['Servus', '{link}', '{validFor}'] } };
    expect(resetMail(own, { locale: 'de-AT' })).toMatchObject({ subject: 'Servus' });
    expect(resetMail(own, { locale: 'de' }).subject).toMatch(/^Setzen Sie/);
    expect(resetMail(own, { locale: 'de-AT' }).text).toContain('Antworten darauf liest\nniemand');
    expect(resetMail(own, { locale: 'de-AT' }).html).toContain('<html lang="de-AT" dir="ltr">');
  });

  it('is that of the reader in the footer, too, where the mail is in a more general one', () => {
    const templates = withTexts({ 'de-AT': { footer: 'Servus, {brand}.' } });
    const mail = resetMail({}, { locale: 'de-AT' }, templates);
    expect(mail.text).toContain('einmal');
    expect(mail.text).toMatch(/\n\nServus, Tom & Jerry\.\n$/);
    expect(resetMail({}, { locale: 'de' }, templates).text).not.toContain('Servus');
  });
});

describe("one's own templates", () => {
  it('take the place of the built-in ones, text by text', () => {
    const own = { de: { 'password-reset': ['Neu bei {brand}', 'Hier:\n{link}'] } };
    const mail = resetMail(own, { locale: 'de' });
    expect(mail.subject).toBe('Neu bei Tom & Jerry');
    expect(mail.text).toBe(
      `Hier:\n${LINK}\n\nDiese Nachricht wurde von Tom & Jerry gesendet. Antworten darauf liest\nniemand.\n`,
    );
    expect(mail.html).toContain(`<p><a href="${LINK}" class="button">Hier</a></p>`);
    expect(mail.html).toContain('<title>Neu bei Tom &#38; Jerry</title>');
    expect(resetMail(own).subject).toMatch(/^Reset your/);
  });

  it('may have a layout of their own', () => {
    const layout = '<!doctype html><html lang="{{locale}}" dir="{{direction}}"><title>{{subject}}</title>{{content}}';
    const templates = {
      ...withOwn({ en: { 'password-reset': ['S', '{link}'] } }),
      templates: new Map([['layout', layout]]),
    };
    expect(resetMail({}, {}, templates).html).toBe(
      `<!doctype html><html lang="en" dir="ltr"><title>S</title><p><a href="${LINK}" class="button">${LINK}</a></p>`,
    );
  });

  it('have text that is escaped in HTML, and values that are not templates', () => {
    const own = { en: { 'password-reset': ['A & B', '1 < 2 & "{validFor}"\nand', '{link}'] } };
    expect(resetMail(own).html).toContain('<p>1 &#60; 2 &#38; &#34;30 minutes&#34;<br>\nand</p>');
    const hostile = { ...VALUES, username: '{link} {{brand}} <b>{brand}</b>' };
    const mail = writeMail(
      withOwn({ en: { 'email-change': ['{brand}', '{username}', '{link}'] } }),
      { brand: 'Acme', defaultLocale: 'en' },
      { template: 'email-change', values: hostile, locale: null },
    );
    expect(mail.text).toContain('{link} {{brand}} <b>{brand}</b>\n');
    expect(mail.html).toContain('<p>{link} {{brand}} &#60;b&#62;{brand}&#60;/b&#62;</p>');
  });
});

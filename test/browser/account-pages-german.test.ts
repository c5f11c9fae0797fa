import { describe, expect, it } from 'vitest';
import { type AccountTab, APPLICATION, openAccountPages } from '../support/browser/account-pages.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import { screenshot } from '../support/browser/console.ts';
import { axeFaultsOf } from '../support/browser/faults.ts';
import { signUp } from '../support/http/auth-http.ts';
import { aPerson } from '../support/http/service.ts';

const LOGO = 'https://cdn.example.net/logo.svg';
const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" width="160" height="40"><rect width="160" height="40" rx="8" fill="#0b5fff"/></svg>';
const LOOKS = [
  { title: 'light, 360 pixels wide', scheme: 'light', width: 360 },
  { title: 'dark, 1280 pixels wide', scheme: 'dark', width: 1280 },
] as const;

describe.runIf(canBrowse())('a German user of a product', () => {
  const { service, lastMailTo, linkFor, tab } = openAccountPages('', {
    BRAND_NAME: 'Muster & Söhne',
    BRAND_LOGO_URL: LOGO,
    BRAND_COLOR: '#ffd400',
  });

  const germanTab = async (): Promise<AccountTab> => {
    const opened = await tab();
    await opened.page.setExtraHTTPHeaders({ 'Accept-Language': 'de-AT,de;q=0.9' });
    await opened.page.route(LOGO, (route) => route.fulfill({ contentType: 'image/svg+xml', body: PICTURE }));
    return opened;
  };
  const germanUser = () => signUp(service(), { ...aPerson(), locale: 'de' } as ReturnType<typeof aPerson>);
  const pictures = async ({ page }: AccountTab, name: string) => {
    for (const { title, scheme, width } of LOOKS) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme: scheme });
      expect([title, ...(await axeFaultsOf(page))]).toEqual([title]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      await screenshot(page, `${name} ${title}`);
    }
  };

  it('gets a German mail, and its page is German, with the name, the logo and the colour of the product', async () => {
    const { person } = await germanUser();
    await service().http.post('/auth/password-reset').send({ email: person.email }).expect(202);
    const mail = await lastMailTo(person.email);
    expect(mail.subject).toBe('Setzen Sie Ihr Passwort bei Muster & Söhne zurück');
    const { page: program } = await tab();
    await program.setContent(mail.html);
    expect(await program.getByRole('link').allTextContents()).toEqual(['Neues Passwort festlegen']);
    await program.setViewportSize({ width: 640, height: 600 });
    await screenshot(program, 'german mail password-reset, HTML');
    await program.setContent('<pre></pre>');
    await program.locator('pre').evaluate((pre, text) => {
      pre.textContent = text;
    }, `${mail.subject}\n\n${mail.text}`);
    await screenshot(program, 'german mail password-reset, text');

    const opened = await germanTab();
    const { page, open, field, press, hears, links, faults } = opened;
    await open(await linkFor(person.email, 'password-reset'));
    await page.getByRole('heading', { level: 1, name: 'Neues Passwort festlegen' }).waitFor();
    expect(await page.title()).toBe('Neues Passwort festlegen · Muster & Söhne');
    expect(await page.getByRole('img', { name: 'Muster & Söhne' }).evaluate((logo) => logo.clientWidth)).toBe(160);
    const colors =
      'const { backgroundColor, color } = getComputedStyle(document.querySelector("form:not([hidden]) button"))';
    expect(await page.evaluate(`(() => { ${colors}; return [backgroundColor, color] })()`)).toEqual([
      'rgb(255, 212, 0)',
      'rgb(0, 0, 0)',
    ]);
    await pictures(opened, 'german page password-reset');
    await field('Neues Passwort').fill('kurz');
    await press('Passwort festlegen');
    await hears('Bitte korrigieren Sie das Feld.');
    expect(await page.locator('.problem').textContent()).toBe('Das Passwort muss mindestens 8 Zeichen haben.');
    await pictures(opened, 'german page password-reset refused');
    await field('Neues Passwort').fill('ein neues, langes Passwort');
    await press('Passwort festlegen');
    await hears('Das Passwort ist geändert. Sie können diese Seite schließen und sich anmelden.');
    expect(await links()).toEqual([APPLICATION]);
    expect(await page.getByRole('link').textContent()).toBe('Weiter zu Muster & Söhne');
    await pictures(opened, 'german page password-reset done');
    expect(faults).toEqual([]);
  });
});

// Proves ASVS 14.2.1; mail-5, mail-8
import { describe, expect, it } from 'vitest';
import { canBrowse } from '../support/browser/chromium.ts';
import { CHROMIUM, openUserPages, TEXTS, type Visitor } from '../support/browser/user-pages.ts';
import { linksOf } from '../support/http/account.ts';
import { signUp } from '../support/http/auth-http.ts';
import { aPerson } from '../support/http/service.ts';

const NEW_PASSWORD = 'another horse battery';
const RESET = '/auth/link/password-reset';

describe.runIf(canBrowse())('the pages for links in mail', () => {
  const { service, address, linkFor, visitor } = openUserPages();
  const asked = (path: string, body: object) => service().http.post(path).send(body).expect(202);
  const resetLink = async (email: string): Promise<string> => {
    await asked('/auth/password-reset', { email });
    return linkFor(email, 'password-reset');
  };
  const setPassword = async ({ submit, isAt }: Visitor) => {
    await submit('password-reset.password-reset', { newPassword: NEW_PASSWORD });
    await isAt('/auth/link/done', 'password-reset');
  };

  it('take the token from the address, and send it in bodies alone', async () => {
    const { person } = await signUp(service());
    const link = await resetLink(person.email);
    const token = link.split('=')[1] ?? '';
    const own = await visitor(CHROMIUM);
    const { page, open, requests, faults } = own;
    await open('/docs');
    await open(link);
    expect(page.url()).toBe(address(RESET));
    // Password managers store the new password with it.
    await expect.poll(() => page.locator('[autocomplete=username]').inputValue()).toBe(person.username);
    await setPassword(own);
    await page.goBack({ waitUntil: 'commit' });
    await page.waitForURL(address(RESET));
    await page.reload();
    expect(await page.locator('[name=token]').inputValue()).toBe('');
    expect(await page.evaluate('JSON.stringify([history.state, { ...localStorage }, { ...sessionStorage }])')).toBe(
      '[null,{},{}]',
    );
    const heads = await Promise.all(
      requests.map(async (sent) => JSON.stringify([sent.url(), await sent.allHeaders()])),
    );
    expect(heads.filter((head) => head.includes(token))).toEqual([]);
    const carried = requests.filter((sent) => sent.postData()?.includes(token));
    expect(carried.map((sent) => new URL(sent.url()).pathname)).toEqual(['/auth/password-reset/preview', RESET]);
    expect(JSON.stringify(service().logs)).not.toContain(token);
    expect(faults).toEqual([]);
  });

  it('take the token of a second link that is opened in the same tab', async () => {
    const { person } = await signUp(service());
    const own = await visitor(CHROMIUM);
    await own.open(`${RESET}#token=${'a'.repeat(43)}`);
    const link = await resetLink(person.email);
    const loaded = own.page.waitForEvent('load');
    await own.page.evaluate(`location.assign(${JSON.stringify(link)})`);
    await loaded;
    await setPassword(own);
  });

  it('do nothing without a click: neither for a scanner nor for a browser that opens the link', async () => {
    const { person, user } = await signUp(service());
    const links = [await linkFor(person.email, 'email-verification'), await linkFor(person.email, 'not-me')];
    const stored = await linksOf(service(), user.id);
    for (const link of links) {
      const { page, requests } = await visitor(CHROMIUM);
      // What the page would send by itself it has sent then.
      await page.goto(link, { waitUntil: 'networkidle' });
      expect(requests.filter((sent) => sent.method() !== 'GET')).toEqual([]);
      await service().http.head(new URL(link).pathname).expect(200);
    }
    expect(await linksOf(service(), user.id)).toEqual(stored);
  });

  it('say whose account gets the address, and until when that can be undone, also to who is logged in to another one', async () => {
    const { person, accessToken } = await signUp(service());
    const { email } = aPerson();
    const change = service().http.put('/users/me/email').set('Authorization', `Bearer ${accessToken}`);
    await change.send({ email, password: person.password }).expect(202);
    const own = await visitor(CHROMIUM);
    await own.open('/auth/register');
    await own.submit('register.register', aPerson());
    await own.open(await linkFor(email, 'email-change'));
    await own.page.getByText(`The account is ${person.username}, registered on`).waitFor();
    expect(await own.page.getByText('can take it back until').textContent()).toMatch(/20\d\d/);
    await own.submit('email-change.email-change');
    await own.submit('email-change.email-change', { password: 'a guess' });
    await own.page.getByText(TEXTS.pages['email-change'].AUTH_CREDENTIALS_INVALID).waitFor();
    await own.page.getByText(`The account is ${person.username}, registered on`).waitFor();
    await own.submit('email-change.email-change', { password: person.password });
    await own.isAt('/auth/link/done', 'email-change');
    expect((await service().ports.users.findByUsername(person.username))?.email).toBe(email);
    expect(own.faults).toEqual([]);
  });

  it('show a password that is typed, if asked to, and make no markup of text', async () => {
    const { page, open, form, faults } = await visitor(CHROMIUM);
    await open(`${RESET}#token=${encodeURIComponent('<b>x</b>')}`);
    const [password, show] = [
      form('password-reset.password-reset').locator('[name=newPassword]'),
      page.locator('.show'),
    ];
    for (const [type, pressed] of [
      ['text', 'true'],
      ['password', 'false'],
    ]) {
      await show.click();
      expect([await password.getAttribute('type'), await show.getAttribute('aria-pressed')]).toEqual([type, pressed]);
    }
    await expect(page.evaluate('document.body.innerHTML = "<b>"')).rejects.toThrow(/TrustedHTML/);
    await expect.poll(() => faults).toContainEqual(expect.stringContaining('violation: require-trusted-types-for'));
  });

  it('send a mail again a minute later, which they count', async () => {
    const { page, open, submit, isAt } = await visitor(CHROMIUM);
    await open('/auth/forgot');
    await submit('forgot.forgot', { email: aPerson().email });
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.again button')).pointerEvents`)).toBe('none');
    expect(await page.evaluate('document.getAnimations().map((each) => each.effect.getTiming().duration)')).toEqual([
      ...[60_000, 60_000],
    ]);
    await page.evaluate('for (const each of document.getAnimations()) each.finish()');
    await submit('check-mail.forgot');
    await isAt('/auth/check-mail', 'reset');
  });
});

describe.runIf(canBrowse())('the pages of a service below a path of a proxy', () => {
  const { address, linkFor, visitor } = openUserPages({}, '/auth-service/v1');

  it('register, log out, and send and use a link', async () => {
    const own = await visitor(CHROMIUM);
    const { page, open, submit, isAt, requests, faults } = own;
    const person = aPerson();
    await open('/auth/register');
    await submit('register.register', person);
    await isAt('/auth/account');
    await open('/auth/log-out');
    await submit('log-out.log-out');
    await isAt('/auth/log-in', 'logged-out');
    await open('/auth/forgot');
    await submit('forgot.forgot', { email: person.email });
    await isAt('/auth/check-mail', 'reset');
    await open(await linkFor(person.email, 'password-reset'));
    await submit('password-reset.password-reset', { newPassword: NEW_PASSWORD });
    await isAt('/auth/link/done', 'password-reset');
    expect(await page.evaluate('document.styleSheets.length')).toBe(1);
    expect(requests.filter((sent) => !sent.url().startsWith(`${address()}/`)).map((sent) => sent.url())).toEqual([]);
    expect(faults).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import type { LinkPurpose } from '../../src/domain/link.ts';
import {
  ACCOUNT_PAGE_NAMES,
  type AccountTab,
  APPLICATION,
  openAccountPages,
} from '../support/browser/account-pages.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import { screenshot } from '../support/browser/console.ts';
import { axeFaultsOf } from '../support/browser/faults.ts';
import { linksOf, sentLink } from '../support/http/account.ts';
import { refreshWith, signUp } from '../support/http/auth-http.ts';
import { aPerson } from '../support/http/service.ts';

const NEW_PASSWORD = 'another horse battery';
const NOT_VALID = /^The link is not valid\./;
const LOOKS = [
  { title: 'light, 320 pixels wide', scheme: 'light', width: 320 },
  { title: 'dark, 1280 pixels wide', scheme: 'dark', width: 1280 },
] as const;

/** The title of each page, and the buttons that it has with a token and without one. */
const PAGES: Readonly<Record<(typeof ACCOUNT_PAGE_NAMES)[number], readonly [string, string, string | null]>> = {
  'password-reset': ['Set a new password', 'Set the password', 'Send a link'],
  'email-verification': ['Confirm your email address', 'Confirm', 'Send another link'],
  'not-me': ['You did not register?', 'Remove the account', null],
  'email-change': ['Confirm the new email address', 'Confirm', null],
  'email-change-undo': ['Restore your email address', 'Restore the address', null],
  'factors-undo': ['Undo changes of your account', 'Undo the changes', null],
};

describe.runIf(canBrowse())('the pages for links in mail', () => {
  const { service, address, linkFor, subjectsTo, tab } = openAccountPages();

  const asked = async (path: string, json: object): Promise<void> => {
    await service().http.post(path).send(json).expect(202);
  };
  const resetLink = async (email: string): Promise<string> => {
    await asked('/auth/password-reset', { email });
    return linkFor(email, 'password-reset');
  };
  const linkWith = (name: LinkPurpose, token: string): string => `${address()}/account/${name}#token=${token}`;
  const logIn = (account: string, password: string) => service().http.post('/auth/login').send({ account, password });

  it.each(
    ACCOUNT_PAGE_NAMES.flatMap((name) => [
      { name, what: 'with a token', fragment: '#token=abc' },
      { name, what: 'without a token', fragment: '' },
    ]),
  )(
    '$name $what has no fault that axe or the policy finds, and fits, in every look',
    async ({ name, what, fragment }) => {
      const { page, faults, open, buttons, hears } = await tab();
      const [heading, withToken, without] = PAGES[name];
      await open(`${address()}/account/${name}${fragment}`);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      // That page asks whose account it is, and there is none.
      const expected = fragment === '' || name === 'email-change' ? without : withToken;
      if (fragment !== '' && name === 'email-change') await hears(NOT_VALID);
      expect(await buttons()).toEqual(expected === null ? [] : [expected]);
      for (const { title, scheme, width } of LOOKS) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme: scheme });
        expect([title, ...(await axeFaultsOf(page))]).toEqual([title]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
        await screenshot(page, `account ${name} ${what} ${title}`);
      }
      expect(faults).toEqual([]);
    },
  );

  it('sets a new password, after one that is too weak was refused at its field', async () => {
    const { person, cookie } = await signUp(service());
    const { page, field, open, press, hears, focused, links, faults } = await tab();
    await open(await resetLink(person.email));
    expect(await links()).toEqual([]);
    await field('New password').fill('password');
    await press('Set the password');
    await page.locator('.problem').waitFor();
    expect(await field('New password').getAttribute('aria-invalid')).toBe('true');
    expect((await field('New password').getAttribute('aria-describedby'))?.split(' ')).toContain(
      await page.locator('.problem').getAttribute('id'),
    );
    expect(await page.locator('.problem').textContent()).toMatch(/^must .*\.$/);
    await hears('Please correct the field.');
    expect(await focused()).toBe('newPassword');
    expect(await axeFaultsOf(page)).toEqual([]);
    await screenshot(page, 'account password-reset refused');

    await field('New password').fill(NEW_PASSWORD);
    await press('Set the password');
    await hears('The password is changed. You can close this page and log in.');
    expect(await page.locator('form:visible, .lead, .problem').count()).toBe(0);
    expect(await focused()).toBe('status');
    expect(await links()).toEqual([APPLICATION]);
    expect(await axeFaultsOf(page)).toEqual([]);
    await screenshot(page, 'account password-reset done');
    await refreshWith(service(), cookie).expect(401);
    await logIn(person.email, person.password).expect(401);
    await logIn(person.email, NEW_PASSWORD).expect(200);
    expect(faults).toEqual([]);
  });

  it('says that a link was used, and sends another one', async () => {
    const { person, user } = await signUp(service());
    const { field, open, press, hears, focused, buttons, page } = await tab();
    // Not one that was asked for, since the service does not send two within a short time.
    const link = linkWith(
      'password-reset',
      await sentLink(service(), { userId: user.id, purpose: 'password-reset', email: user.email }),
    );
    await open(link);
    await field('New password').fill(NEW_PASSWORD);
    await press('Set the password');
    await hears('The password is changed.');
    await page.goto('about:blank');

    await open(link);
    await field('New password').fill(person.password);
    await press('Set the password');
    await hears('The link is not valid. You can ask for another link here.');
    expect(await focused()).toBe('status');
    expect(await buttons()).toEqual(['Send a link']);
    await press('Send a link');
    expect(await page.locator('.problem').textContent()).toMatch(/^must /);
    expect(await focused()).toBe('email');
    await field('Email').fill(person.email);
    await press('Send a link');
    await hears('If the address has an account, an email with a link is on its way.');
    expect(await linkFor(person.email, 'password-reset')).not.toBe(link);
    await logIn(person.email, NEW_PASSWORD).expect(200);
  });

  it.each([
    ['password-reset', 'You can ask for another link here.'],
    ['email-verification', 'If not, ask for another link here.'],
    ['not-me', 'You can close this page.'],
    ['email-change', 'If not, log in and change it again.'],
    ['email-change-undo', 'You can close this page.'],
    ['factors-undo', 'You can close this page.'],
  ] as const)('says that a link to %s has expired', async (purpose, afterwards) => {
    const { user } = await signUp(service());
    const token = await sentLink(service(), { userId: user.id, purpose, email: user.email }, -1);
    const { field, open, press, hears, buttons, page, faults } = await tab();
    const [, withToken, without] = PAGES[purpose];
    await open(linkWith(purpose, token));
    if (purpose === 'password-reset') await field('New password').fill(NEW_PASSWORD);
    if (purpose !== 'email-change') await press(withToken);
    await hears(NOT_VALID);
    await hears(afterwards);
    expect(await buttons()).toEqual(without === null ? [] : [without]);
    await screenshot(page, `account ${purpose} expired`);
    expect(faults).toEqual([]);
  });

  it('confirms an address, and sends another link to one that is not confirmed', async () => {
    const { person, user } = await signUp(service());
    const first = await linkFor(person.email, 'email-verification');
    const { field, open, press, hears } = await tab();
    await open(`${address()}/account/email-verification`);
    await field('Email').fill(person.email);
    await press('Send another link');
    await hears('If the address has an account that is not confirmed, an email with a link is on its way.');
    const link = await linkFor(person.email, 'email-verification');
    expect(link).not.toBe(first);
    await open(link);
    await press('Confirm');
    await hears('The address is confirmed. You can close this page and log in.');
    expect((await service().ports.users.findById(user.id))?.emailVerifiedAt).toBeGreaterThan(0);
  });

  it('removes an account that somebody else has registered', async () => {
    const { person, user } = await signUp(service());
    const { open, press, hears } = await tab();
    await open(await linkFor(person.email, 'not-me'));
    await press('Remove the account');
    await hears('The account is removed. You can close this page.');
    expect(await service().ports.users.findById(user.id)).toBeNull();
  });

  it('changes an address, and restores it with a link to the former one', async () => {
    const { person, user, accessToken, cookie } = await signUp(service());
    const { email } = aPerson();
    const change = service().http.put('/users/me/email').set('Authorization', `Bearer ${accessToken}`);
    await change.send({ email, password: person.password }).expect(202);
    const { page, field, open, press, hears, focused, faults } = await tab();
    await open(await linkFor(email, 'email-change'));
    await page.getByText(`The account is ${person.username}, registered on`).waitFor();
    await page.getByText('can take it back until').waitFor();
    expect(await axeFaultsOf(page)).toEqual([]);
    await screenshot(page, 'account email-change of an account');
    await field('Password of the account').fill('a guess');
    await press('Confirm');
    await page.getByText('is not that of the account.').waitFor();
    expect(await focused()).toBe('password');
    await field('Password of the account').fill(person.password);
    await press('Confirm');
    await hears('The account has the new address now. You can close this page.');
    expect((await service().ports.users.findById(user.id))?.email).toBe(email);
    await open(await linkFor(person.email, 'email-change-undo'));
    await press('Restore the address');
    await hears(/^The address is restored, and all sessions have ended\./);
    expect((await service().ports.users.findById(user.id))?.email).toBe(person.email);
    await refreshWith(service(), cookie).expect(401);
    // The promise of the page.
    await linkFor(person.email, 'password-reset');
    expect(faults).toEqual([]);
  });

  it('does nothing without a click: neither for a scanner nor for a browser that opens the link', async () => {
    const { person, user } = await signUp(service());
    const links = [await linkFor(person.email, 'email-verification'), await linkFor(person.email, 'not-me')];
    const stored = await linksOf(service(), user.id);
    for (const link of links) {
      const { posts, page } = await tab();
      // What the page would send by itself it has sent then.
      await page.goto(link, { waitUntil: 'networkidle' });
      await page.close();
      expect(posts()).toEqual([]);
      const path = new URL(link).pathname;
      await service().http.head(path).expect(200);
      const text = (await service().http.get(path).expect(200)).text;
      // The page is the same for every link and every query.
      expect((await service().http.get(`${path}?token=abc&next=https://evil.example`).expect(200)).text).toBe(text);
    }
    expect(await linksOf(service(), user.id)).toEqual(stored);
    const { open, press, hears } = await tab();
    await open(links[0] ?? '');
    await press('Confirm');
    await hears('The address is confirmed.');
  });

  it('takes the token from the address, and sends it in bodies alone', async () => {
    const { person } = await signUp(service());
    const link = await resetLink(person.email);
    const token = link.split('=')[1] ?? '';
    const { page, open, field, press, hears, requests, posts } = await tab();
    await open(`${address()}/docs`);
    await open(link);
    expect(page.url()).toBe(`${address()}/account/password-reset`);
    await field('New password').fill(NEW_PASSWORD);
    await press('Set the password');
    await hears('The password is changed.');
    await page.goto(`${address()}/errors`);
    // A page of the back/forward cache is as it was left, and has no load event.
    await page.goBack({ waitUntil: 'commit' });
    expect(page.url()).toBe(`${address()}/account/password-reset`);
    // A page that is still taking the place of another one cannot be loaded again.
    await page.getByRole('heading', { level: 1, name: 'Set a new password' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Send a link' }).waitFor();
    expect(await page.evaluate('JSON.stringify([history.state, { ...localStorage }, { ...sessionStorage }])')).toBe(
      '[null,{},{}]',
    );

    const heads = await Promise.all(
      requests.map(async (sent) => JSON.stringify([sent.url(), await sent.allHeaders()])),
    );
    expect(heads.filter((head) => head.includes(token))).toEqual([]);
    expect(heads.filter((head) => /"referer":"[^"]/i.test(head))).toEqual([]);
    expect(posts().map((sent) => [new URL(sent.url()).pathname, sent.postDataJSON()])).toEqual([
      ['/auth/password-reset/preview', { token }],
      ['/auth/password-reset/confirm', { token, newPassword: NEW_PASSWORD }],
    ]);
    expect(JSON.stringify(service().logs)).not.toContain(token);
  });

  it('takes the token of a second link that is opened in the same tab', async () => {
    const { person } = await signUp(service());
    const { page, open, field, press, hears } = await tab();
    await open(linkWith('password-reset', 'abc'));
    const link = await resetLink(person.email);
    await page.evaluate(`location.assign(${JSON.stringify(link)})`);
    await page.waitForURL(`${address()}/account/password-reset`);
    await field('New password').fill(NEW_PASSWORD);
    await press('Set the password');
    await hears('The password is changed.');
  });

  it('says the rules of a password before the first try, shows it if asked to, and names the account to password managers', async () => {
    const { person } = await signUp(service());
    const { page, open, field, press, hears, faults } = await tab();
    await open(await resetLink(person.email));
    await field('New password').waitFor();
    const [username, password] = [page.locator('[autocomplete=username]'), field('New password')];
    await expect.poll(() => username.inputValue()).toBe(person.username);
    expect(await username.isVisible()).toBe(false);
    const described = async () => (await password.getAttribute('aria-describedby'))?.split(' ');
    expect(await described()).toEqual(['newPassword-rules']);
    expect(await page.locator('#newPassword-rules').textContent()).toMatch(/^At least 8 characters/);
    await page.getByLabel('Show the password').check();
    await password.fill('short');
    expect(await password.getAttribute('type')).toBe('text');
    await page.getByLabel('Show the password').uncheck();
    expect(await password.getAttribute('type')).toBe('password');
    await press('Set the password');
    await page.getByText('must have at least 8 characters.').waitFor();
    expect(await described()).toEqual(['newPassword-rules', 'newPassword-problem']);
    expect(await axeFaultsOf(page)).toEqual([]);
    await password.fill(NEW_PASSWORD);
    await press('Set the password');
    await hears('The password is changed.');
    // The status of the refused password.
    expect(faults.filter((fault) => !fault.includes('400'))).toEqual([]);
  });

  it('sends once, however often somebody clicks', async () => {
    const { person } = await signUp(service());
    const { page, open, field, hears, posts, focused } = await tab();
    await open(await resetLink(person.email));
    const held = Promise.withResolvers<void>();
    await page.route('**/confirm', async (route) => {
      await held.promise;
      await route.continue();
    });
    await field('New password').fill(NEW_PASSWORD);
    const button = page.getByRole('button', { name: 'Set the password' });
    await button.dblclick();
    await field('New password').press('Enter');
    await button.click();
    await hears('Please wait…');
    held.resolve();
    await hears('The password is changed.');
    expect(posts().filter((sent) => sent.url().endsWith('/confirm'))).toHaveLength(1);
    expect(await focused()).toBe('status');
  });

  it('works by keyboard alone, and the focus can be seen', async () => {
    const { person } = await signUp(service());
    const { page, open, hears, focused } = await tab();
    await open(await resetLink(person.email));
    for (let presses = 0; presses < 9 && (await focused()) !== 'newPassword'; presses += 1)
      await page.keyboard.press('Tab');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.keyboard.type(NEW_PASSWORD);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.parentElement.textContent')).toBe(' Show the password');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Set the password');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.keyboard.press('Space');
    await hears('The password is changed.');
  });

  it('can be tried again after a failure of the network', async () => {
    const { person } = await signUp(service());
    const { page, open, field, press, hears, buttons } = await tab();
    await open(await resetLink(person.email));
    await field('New password').fill(NEW_PASSWORD);
    await page.route('**/confirm', (route) => route.abort(), { times: 1 });
    await press('Set the password');
    await hears(/^No response/);
    expect(await buttons()).toEqual(['Set the password']);
    await press('Set the password');
    await hears('The password is changed.');
  });

  it('says when to try again', async () => {
    const { page, open, press, hears } = await tab();
    await open(linkWith('email-verification', 'abc'));
    const body = { success: false, code: 'CLIENT_REQUEST_RATE_LIMIT_EXCEEDED', message: 'Too many requests.' };
    await page.route('**/confirm', (route) =>
      route.fulfill({ status: 429, headers: { 'Retry-After': '42' }, json: body }),
    );
    await press('Confirm');
    await hears('Too many requests. Try again in 42 seconds.');
  });

  it('says that its script did not load', async () => {
    const { page, open } = await tab();
    await page.route('**/account-page.js', (route) => route.abort());
    await open(linkWith('not-me', 'abc'));
    await page.getByText('The script of this page did not load.').waitFor();
  });

  it('says that it needs JavaScript', async () => {
    const { page, open } = await tab();
    const protocol = await page.context().newCDPSession(page);
    await protocol.send('Emulation.setScriptExecutionDisabled', { value: true });
    await open(linkWith('not-me', 'abc'));
    await page.locator('noscript p').waitFor();
    expect(await page.getByRole('button').count()).toBe(0);
  });

  it('cannot make markup of text', async () => {
    const { page, open, faults } = await tab();
    await open(linkWith('not-me', '<b>x</b>'));
    await expect(page.evaluate('document.body.innerHTML = "<b>"')).rejects.toThrow(/TrustedHTML/);
    await expect.poll(() => faults).toContainEqual(expect.stringContaining('violation: require-trusted-types-for'));
  });

  it('shows neither by its response nor by its text whether an address has an account', async () => {
    const { person } = await signUp(service());
    const askedFor = async (email: string): Promise<AccountTab> => {
      const opened = await tab();
      await opened.open(`${address()}/account/password-reset`);
      await opened.field('Email').fill(email);
      await opened.press('Send a link');
      await opened.hears('If the address has an account, an email with a link is on its way.');
      return opened;
    };
    const shown = [person.email, aPerson().email].map(async (email) =>
      (await askedFor(email)).page.locator('main').textContent(),
    );
    const [known, unknown] = await Promise.all(shown);
    expect(known).toBe(unknown);
    expect(await subjectsTo(person.email)).toHaveLength(2);
  });
});

describe.runIf(canBrowse())('the pages for links in mail, below a path of a proxy', () => {
  const { service, address, linkFor, tab } = openAccountPages('/auth-service/v1');

  it('send a link, and use it', async () => {
    const { person } = await signUp(service());
    const { page, open, field, press, hears, faults, requests } = await tab();
    await open(`${address()}/account/password-reset`);
    await field('Email').fill(person.email);
    await press('Send a link');
    await hears('If the address has an account');
    await open(await linkFor(person.email, 'password-reset'));
    await field('New password').fill(NEW_PASSWORD);
    await press('Set the password');
    await hears('The password is changed.');
    expect(await page.evaluate('document.styleSheets.length')).toBe(1);
    expect(requests.filter((sent) => !sent.url().startsWith(`${address()}/`)).map((sent) => sent.url())).toEqual([]);
    expect(faults).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { codesOf, KINDS, openUserPages, TEXTS } from '../support/browser/user-pages.ts';
import { signUp } from '../support/http/auth-http.ts';

const MINUTE = 60_000;
const { AUTH_CREDENTIALS_INVALID: WRONG } = TEXTS.errors;
const { AUTH_SECOND_FACTOR_INVALID: TOO_LATE } = TEXTS.pages['log-in'];

describe.runIf(KINDS.length > 0)('the pages for users', () => {
  const { service, application, address, pass, visitor } = openUserPages();
  const logInPath = () => `/auth/log-in?${new URLSearchParams({ to: application().publish('') })}`;
  const sessionsOf = async (id: string) =>
    (await service().ports.sessions.listByUser(id, service().ports.clock.now())).length;
  /** A user with an app. */
  const guarded = async () => {
    const { person, user, accessToken } = await signUp(service());
    const bearer = { Authorization: `Bearer ${accessToken}` };
    const at = '/users/me/factors/totp';
    const { id, secret } = (await service().http.post(at).set(bearer).expect(201)).body.data;
    const code = codesOf(secret);
    await service()
      .http.post(`${at}/confirm`)
      .set(bearer)
      .send({ id, code: code(service().ports.clock.now()) });
    return { person, user, code: () => code(service().ports.clock.now()) };
  };

  describe.each(KINDS)('in $browser with script: $script', (kind) => {
    it('lead to an application, keep what was typed over an error, and send nothing again by Back and reload', async () => {
      const { person } = await signUp(service());
      const account = person.username;
      const { page, form, open, submit, isAt, posts, faults } = await visitor(kind);
      await open(logInPath());
      await submit('log-in.account', { account });
      await page.goBack();
      expect(await form('log-in.account').locator('[name=account]').inputValue()).toBe(account);
      const password = form('log-in.log-in').locator('[name=password]');
      for (const wrong of ['not this one', 'nor this one']) {
        await submit('log-in.log-in', { account, password: wrong });
        await page.getByText(WRONG).waitFor();
        expect(await form('log-in.log-in').locator('[name=account]').inputValue()).toBe(account);
        expect(await password.inputValue()).toBe('');
      }
      await page.reload();
      expect(await page.getByText(WRONG).count()).toBe(0);
      await page.locator('main a[href^="/auth/log-in"]').click();
      expect(await form('log-in.account').locator('[name=account]').inputValue()).toBe(account);
      await submit('log-in.log-in', { account, password: person.password });
      expect(page.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/auth\/page-\d+\?tandem=logged-in$/);
      const sent = posts().length;
      await page.goBack({ waitUntil: 'commit' });
      // Somebody is there: the page leads on.
      await page.waitForURL(`${application().origin}/**`);
      await open('/auth/account');
      await submit('account.username', { username: 'x' });
      await submit('account.username', { username: `${account}.2` });
      await isAt('/auth/account', 'saved');
      await page.reload();
      expect(await page.getByText(TEXTS.notices.saved).count()).toBe(0);
      await page.goBack({ waitUntil: 'commit' });
      expect(posts().length).toBe(sent + 2);
      expect(faults).toEqual([]);
    });

    // What follows does not depend on the browser.
    if (kind.browser !== 'chromium') return;

    it('do once what is clicked twice: a log-in, and a code', async () => {
      const { person, user, code } = await guarded();
      const { submit, open, isAt, page } = await visitor(kind);
      await open('/auth/log-in');
      await submit('log-in.log-in', { account: person.username, password: person.password }, (it) => it.dblclick());
      await page.waitForURL('**/auth/second-factor');
      const before = await sessionsOf(user.id);
      await submit('second-factor.second-factor', { code: code() }, (it) => it.dblclick());
      await page.waitForURL('**/auth/account*');
      await isAt('/auth/account');
      expect(await sessionsOf(user.id)).toBe(before + 1);
    });

    if (!kind.script) return;

    it('begin again when the second factor comes too late, and lead to what the visitor came for', async () => {
      const { person, code } = await guarded();
      const { submit, open, page, at } = await visitor(kind);
      await open(logInPath());
      const fields = { account: person.username, password: person.password };
      await submit('log-in.log-in', fields);
      pass(6 * MINUTE);
      await submit('second-factor.second-factor', { code: '123456' });
      expect(at()).toMatch(/^\/auth\/log-in\?to=http/);
      await page.getByText(TOO_LATE).waitFor();
      pass(-6 * MINUTE);
      await submit('log-in.log-in', fields);
      await submit('second-factor.second-factor', { code: code() });
      expect(page.url()).toContain(`${application().origin}/auth/page-`);
    });

    it('do not take the form of another site, and are in no frame', async () => {
      const { person } = await signUp(service());
      const { page, open, context, requests } = await visitor(kind);
      await open(
        application().publish(`<form method="post" action="${address('/auth/log-in')}">
          <input name="account" value="${person.username}"><input name="password" value="${person.password}"><button>Win</button></form>
          <iframe src="${address('/auth/log-in')}"></iframe>`),
      );
      await expect.poll(() => requests.map((sent) => sent.url())).toContain(address('/auth/log-in'));
      for (const frame of page.frames().slice(1)) expect(await frame.locator('input').count()).toBe(0);
      const refused = page.waitForResponse((response) => response.request().method() === 'POST');
      await page.getByRole('button', { name: 'Win' }).click();
      expect((await refused).status()).toBe(403);
      await page.waitForURL(address('/auth/log-in'));
      await page.locator('h1').waitFor();
      expect(await context.cookies(address('/auth'))).toEqual([]);
      await open('/auth/account');
      expect(page.url()).toBe(address('/auth/log-in?to=%2Fauth%2Faccount'));
    });
  });
});

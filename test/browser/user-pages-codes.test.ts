import { describe, expect, it } from 'vitest';
import { axeFaultsOf } from '../support/browser/faults.ts';
import { KINDS, openUserPages, type Tab, TEXTS } from '../support/browser/user-pages.ts';
import { signUp } from '../support/http/auth-http.ts';
import { aPerson } from '../support/http/service.ts';

const MINUTE = 60_000;
const CHROMIUM = KINDS.filter(({ browser }) => browser === 'chromium');
const { AUTH_CODE_INVALID: WRONG } = TEXTS.errors;
const wrongCode = (code: string) => code.replace(/.$/, (digit) => `${(Number(digit) + 1) % 10}`);

describe.runIf(CHROMIUM.length > 0)('codes by mail, on the pages for users', () => {
  const { service, codeFor, pass, visitor, tab } = openUserPages({ ...{ LOGIN_BY_CODE: 'on', PASSWORDS: 'optional' } });
  const sessionsOf = async (id: string) =>
    (await service().ports.sessions.listByUser(id, service().ports.clock.now())).length;
  /** A user who has confirmed the address. */
  const known = async () => {
    const { person, user } = await signUp(service());
    await service().ports.users.update(user.id, { emailVerifiedAt: 1, now: service().ports.clock.now() });
    return { ...person, id: user.id };
  };
  const isRefused = async ({ page, form, isAt }: Tab, account: string) => {
    await isAt('/auth/code');
    await page.getByText(WRONG).waitFor();
    expect(await form('code.code').locator('[name=code]').inputValue()).toBe('');
    expect(await form('code.again').locator('[name=account]').inputValue()).toBe(account);
  };

  describe.each(CHROMIUM)('with script: $script', (kind) => {
    it('log in once, in the browser that has asked: not in another one, nor again by Back, reload or a second tab', async () => {
      const { id, email } = await known();
      const own = await visitor(kind);
      const { page, form, open, submit, isAt, at, posts, faults } = own;
      await open('/auth/log-in');
      // One field, which a password manager fills in. The password is not needed.
      expect(await page.locator('input[autocomplete~=username]').count()).toBe(1);
      await submit('log-in.code', { account: email });
      await isAt('/auth/code', 'code');
      if (kind.script) expect(await axeFaultsOf(page)).toEqual([]);
      const field = form('code.code').locator('[name=code]');
      expect(await page.locator(':focus').getAttribute('name')).toBe('code');
      expect([await field.getAttribute('inputmode'), await field.getAttribute('autocomplete')]).toEqual([
        ...['numeric', 'one-time-code'],
      ]);
      const code = await codeFor(email);

      // The link in the mail leads there, too.
      const elsewhere = await visitor(kind);
      await elsewhere.open('/auth/code');
      await elsewhere.submit('code.code', { code });
      await isRefused(elsewhere, '');
      const second = await tab(own);
      await second.open('/auth/code');
      await submit('code.code', { code: wrongCode(code) });
      await isRefused(own, email);
      await page.reload();
      expect(await page.getByText(WRONG).count()).toBe(0);

      const before = await sessionsOf(id);
      await submit('code.code', { code: code.replace(/^..../, '$& ') }, (button) => button.dblclick());
      await page.waitForURL('**/auth/account*');
      expect(await sessionsOf(id)).toBe(before + 1);
      const sent = posts().length;
      await page.goBack({ waitUntil: 'commit' });
      await page.waitForURL('**/auth/code*');
      await page.reload();
      expect([posts().length, at()]).toEqual([sent, '/auth/code']);
      await second.submit('code.code', { code });
      await isRefused(second, '');
      expect(await sessionsOf(id)).toBe(before + 1);
      expect(faults).toEqual([]);
    });

    it('are all that a user without a password needs: to register, to log in and to change what is protected', async () => {
      const { email } = aPerson();
      const { page, form, open, submit, follow, isAt, faults } = await visitor(kind);
      await open('/auth/register');
      if (kind.script) expect(await axeFaultsOf(page)).toEqual([]);
      await submit('register.register', { email });
      await isAt('/auth/account');
      expect(await form('account.username').locator('[name=username]').inputValue()).toMatch(/^[\w.-]{3,32}$/);

      await follow('/auth/log-out');
      await submit('log-out.log-out');
      await submit('log-in.code', { account: email });
      await submit('code.code', { code: await codeFor(email) });
      await isAt('/auth/account');

      pass(6 * MINUTE);
      await follow('/auth/account/factors');
      expect(page.url()).toContain('/auth/step-up?to=');
      await submit('step-up.mail-code');
      await submit('code.code', { code: await codeFor(email) });
      await isAt('/auth/account/factors');
      expect(faults).toEqual([]);
    });
  });
});

describe.runIf(CHROMIUM.length > 0)('a code by mail on a new device, on the pages for users', () => {
  const { service, codeFor, visitor } = openUserPages({ NEW_DEVICE_CODE: 'on' });

  it.each(CHROMIUM)(
    'follows a right password and a wrong one, until it was typed: with script: $script',
    async (kind) => {
      const { person, user } = await signUp(service());
      await service().ports.users.update(user.id, { emailVerifiedAt: 1, now: service().ports.clock.now() });
      const { page, form, open, submit, follow, isAt, faults } = await visitor(kind);
      const logIn = (password: string) =>
        submit('log-in.log-in', { account: person.username, password }, (button) => button.dblclick());
      await open('/auth/log-in');
      const shown: string[] = [];
      for (const password of ['wrong horse', person.password]) {
        await logIn(password);
        await isAt('/auth/second-factor');
        shown.push((await page.locator('main').textContent()) ?? '');
        await submit('second-factor.mail-code', { mailCode: '00000000' });
        await page.getByText(TEXTS.errors.AUTH_SECOND_FACTOR_INVALID).waitFor();
        if (password !== person.password) await follow('/auth/log-in');
      }
      expect(shown).toEqual([expect.stringContaining(TEXTS.pages['second-factor']['mail-lead']), shown[0]]);
      if (kind.script) expect(await axeFaultsOf(page)).toEqual([]);
      const field = form('second-factor.mail-code').locator('[name=mailCode]');
      expect(await field.getAttribute('autocomplete')).toBe('one-time-code');
      await submit('second-factor.mail-code', { mailCode: await codeFor(person.email) });
      await isAt('/auth/account');
      await follow('/auth/log-out');
      await submit('log-out.log-out');
      await logIn('wrong horse');
      await isAt('/auth/log-in');
      await logIn(person.password);
      await isAt('/auth/account');
      expect(faults).toEqual([]);
    },
  );
});

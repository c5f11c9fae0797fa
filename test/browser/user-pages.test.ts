import { describe, expect, it } from 'vitest';
import { codesOf, KINDS, openUserPages } from '../support/browser/user-pages.ts';
import { aPerson } from '../support/http/service.ts';

const NEW_PASSWORD = 'another horse battery';

describe.runIf(KINDS.length > 0)('the pages for users', () => {
  const { service, application, address, linkFor, visitor } = openUserPages();
  const now = () => service().ports.clock.now();

  it.each(KINDS)('lead through the life of an account, in $browser with script: $script', async (kind) => {
    const { page, form, faults, open, submit, follow, isAt, requests } = await visitor(kind);
    const { username, email, password } = aPerson();
    /** Opens a link as a person does: without the script, it is pasted into the page. */
    const openLink = async (name: 'email-change' | 'password-reset', to: string) => {
      const link = await linkFor(to, name);
      await open(link);
      if (kind.script) expect(page.url()).not.toContain('token');
      return kind.script ? {} : { token: link };
    };

    await open('/auth/register');
    await submit('register.register', { username, email, password });
    await isAt('/auth/account');
    await submit('account.username', { username: `${username}-2` });
    await isAt('/auth/account', 'saved');
    const newEmail = `new.${email}`;
    await submit('account.email', { email: newEmail, password });
    const confirmation = await openLink('email-change', newEmail);
    await submit('email-change.email-change', confirmation);
    await isAt('/auth/link/done', 'email-change');

    await service().http.post('/auth/login').set('User-Agent', 'Old telephone').send({ account: newEmail, password });
    await open('/auth/account');
    expect(await form('account.session').count()).toBe(1);
    await submit('account.sessions');
    await isAt('/auth/account', 'ended');
    expect(await form('account.session').count()).toBe(0);
    await submit('account.password', { currentPassword: password, newPassword: NEW_PASSWORD });
    await isAt('/auth/account', 'password');

    await follow('/auth/account/factors');
    await submit('factors.start-app');
    const code = codesOf(((await page.locator('main p > code').textContent()) ?? '').replaceAll(' ', ''));
    await submit('factors.app', { code: code(now()) });
    await isAt('/auth/recovery-codes');
    const recoveryCodes = await page.locator('.codes li').allTextContents();
    expect(new Set(recoveryCodes).size).toBe(10);
    await follow('/auth/account');

    await follow('/auth/log-out');
    await submit('log-out.log-out');
    await isAt('/auth/log-in', 'logged-out');
    await submit('log-in.log-in', { account: ` ${newEmail} `, password: NEW_PASSWORD });
    await isAt('/auth/second-factor');
    await submit('second-factor.second-factor', { code: code(now()).replace(/^.../, '$& '), remember: true });
    await isAt('/auth/account');
    await open('/auth/log-out');
    await submit('log-out.log-out');
    await submit('log-in.log-in', { account: newEmail, password: NEW_PASSWORD });
    await isAt('/auth/account');

    await open('/auth/log-out');
    await submit('log-out.log-out');
    await submit('log-in.account', { account: newEmail });
    await follow('/auth/forgot');
    await submit('forgot.forgot', { email: newEmail });
    await isAt('/auth/check-mail');
    const reset = await openLink('password-reset', newEmail);
    await submit('password-reset.password-reset', { newPassword: password, ...reset });
    await isAt('/auth/link/done', 'password-reset');
    await follow('/auth/log-in');
    await submit('log-in.log-in', { account: newEmail, password });
    await submit('second-factor.recovery', { recoveryCode: recoveryCodes[0] ?? '' });
    await isAt(`${application().origin}/`);
    await open('/auth/account');

    await follow('/auth/account/delete');
    await submit('delete.delete', { password });
    await isAt('/auth/log-in', 'deleted');
    await service().http.post('/auth/login').send({ account: newEmail, password }).expect(401);
    expect(faults).toEqual([]);
    const ofOthers = requests.filter(
      (sent) => ![address(), application().origin].some((own) => sent.url().startsWith(own)),
    );
    expect(ofOthers).toEqual([]);
  });
});

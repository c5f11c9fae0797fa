import { describe, expect, it } from 'vitest';
import { canBrowse } from '../support/browser/chromium.ts';
import { addAuthenticator } from '../support/browser/passkey-page.ts';
import { CHROMIUM, openUserPages, TEXTS } from '../support/browser/user-pages.ts';
import { aPerson } from '../support/http/service.ts';

/** From here on, buttons alone ask for a passkey. */
const WITHOUT_AUTOFILL = 'PublicKeyCredential.isConditionalMediationAvailable = async () => false';
/** As a browser does whose password manager has filled in the password, which no test can: it asks nobody. */
const SILENT = `
  const create = navigator.credentials.create.bind(navigator.credentials);
  navigator.credentials.create = (options) => create({ ...options, mediation: 'optional' });`;

describe.runIf(canBrowse())('the pages offer a passkey', () => {
  const { application, service, visitor } = openUserPages({ PASSWORDS: 'optional', LOGIN_BY_CODE: 'on' });
  let app: string | undefined;
  const to = () => {
    app ??= application().publish('an application');
    return app;
  };
  const at = (path: string) => `${path}?to=${encodeURIComponent(to())}`;
  /** A browser on a device that makes passkeys, and somebody with a password. */
  const device = async (script = '') => {
    const own = await visitor(CHROMIUM);
    await own.page.addInitScript(`${WITHOUT_AUTOFILL};${script}`);
    const person = aPerson();
    await service().http.post('/auth/register').send(person).expect(201);
    const logIn = async () => {
      await own.context.clearCookies({ name: 'refresh_token' });
      await own.open(at('/auth/log-in'));
      await own.submit('log-in.log-in', { account: person.username, password: person.password });
    };
    return { ...own, person, logIn, authenticator: await addAuthenticator(own.page) };
  };
  const arrived = ({ page }: Pick<Awaited<ReturnType<typeof device>>, 'page'>) => page.waitForURL(`${to()}*`);

  it('right after a registration without a password, and log in with it', async () => {
    const own = await device();
    await own.open(at('/auth/register'));
    await own.submit('register.register', { email: aPerson().email });
    await own.isAt(at('/auth/new-passkey'));
    await own.submit('new-passkey.new-passkey');
    await own.isAt(at('/auth/recovery-codes'));
    await own.page.getByText(TEXTS.pages['recovery-codes'].continue).click();
    await arrived(own);
    await own.context.clearCookies({ name: 'refresh_token' });
    await own.open(at('/auth/log-in'));
    await own.submit('log-in.passkey');
    await arrived(own);
    await own.context.clearCookies({ name: 'refresh_token' });
    await own.open('/auth/log-in');
    expect(await own.form('log-in.passkey').textContent()).toContain(TEXTS.common['used-last']);
    expect(await own.authenticator.ids()).toHaveLength(1);
    expect(own.faults).toEqual([]);
  });

  it('after a log-in with a password, once', async () => {
    const own = await device();
    await own.logIn();
    await own.isAt(at('/auth/new-passkey'));
    await own.page.getByText(TEXTS.pages['new-passkey'].later).click();
    await arrived(own);
    await own.logIn();
    await arrived(own);
    // A month later.
    await own.context.clearCookies({ name: 'passkey_offered' });
    await own.logIn();
    await own.submit('new-passkey.new-passkey');
    await arrived(own);
    await own.context.clearCookies({ name: 'passkey_offered' });
    await own.logIn();
    await arrived(own);
    expect(await own.authenticator.ids()).toHaveLength(1);
    expect(own.faults).toEqual([]);
  });

  it('not where the device makes none', async () => {
    const own = await device('PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable = async () => false');
    await own.logIn();
    await arrived(own);
  });

  it('without a question, where the browser asks nobody', async () => {
    const own = await device(SILENT);
    await own.logIn();
    await arrived(own);
    expect(await own.authenticator.ids()).toHaveLength(1);
  });

  it('that shows a changed username', async () => {
    const own = await device(SILENT);
    await own.logIn();
    await arrived(own);
    await own.open('/auth/account');
    await own.submit('account.username', { username: 'another.name' });
    await own.isAt('/auth/account', 'saved');
    await expect.poll(own.authenticator.names).toEqual(['another.name']);
  });
});

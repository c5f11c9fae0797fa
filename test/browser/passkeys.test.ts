import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { PasskeyRequestOptions } from '../../client/src/types.ts';
import { codeAt } from '../support/authenticator-app.ts';
import { openApplications } from '../support/browser/applications.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import { sessionsIn } from '../support/browser/client-page.ts';
import {
  addAuthenticator,
  addPasskeyIn,
  autofillIn,
  beginAutofillIn,
  logOutIn,
  passkeyForm,
  passkeyLoginIn,
  preparePasskeysIn,
} from '../support/browser/passkey-page.ts';

const MINUTE = 60_000;
const OPTIONS = '/auth/passkey/options';

type PendingLogin = { readonly methods: readonly string[]; readonly passkey: PasskeyRequestOptions };

describe.runIf(canBrowse())('passkeys in a browser', () => {
  const { world, signedUp, pass } = openApplications({
    WEBAUTHN_RP_ID: 'tandem.localhost',
    JWT_AUTHENTICATION_CLAIMS: 'true',
  });

  /** A user who is logged in, without a passkey. */
  const user = async (traits: Parameters<typeof addAuthenticator>[1] = {}) => {
    const { service } = world();
    const { tab, person } = await signedUp({ html: passkeyForm(service) });
    await preparePasskeysIn(tab, service);
    return { tab, person, authenticator: await addAuthenticator(tab, traits) };
  };
  /** A user with a passkey, who has logged out. */
  const loggedOut = async (traits: Parameters<typeof addAuthenticator>[1] = {}) => {
    const given = await user(traits);
    const added = await addPasskeyIn(given.tab);
    if (!added?.passkey) throw new Error(`no passkey: ${added?.code}`);
    await logOutIn(given.tab);
    return { ...given, passkey: added.passkey };
  };
  const claimsIn = async (tab: Page) => {
    const token = await tab.evaluate(() => globalThis.page?.auth.accessToken());
    return JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString());
  };
  /** Adds an authenticator app. */
  const enrolAppIn = async (tab: Page) => {
    const post = (path: string, body?: object) =>
      tab.evaluate(
        async ([url, json]) => {
          const headers = { 'Content-Type': 'application/json' };
          const response = await globalThis.page?.auth.fetch(url, { method: 'POST', headers, body: json });
          return (await response?.json()) as { data: { id: string; secret: string } };
        },
        [`${world().service}/users/me/factors/totp${path}`, JSON.stringify(body ?? {})] as const,
      );
    const { id, secret } = (await post('')).data;
    await post('/confirm', { id, code: codeAt(secret, world().behind.ports.clock.now()) });
  };
  const listIn = (tab: Page) => tab.evaluate(() => globalThis.passkeys?.list());
  it('are made, listed, renamed and removed, and the browser forgets the removed one only', async () => {
    const { tab, authenticator } = await user();
    const added = await addPasskeyIn(tab, 'Laptop');
    expect(added?.passkey).toMatchObject({ name: 'Laptop', synced: true, backedUp: true, lastUsedAt: null });
    const [own] = await authenticator.ids();
    expect(await listIn(tab)).toEqual([{ ...added?.passkey, credentialId: own }]);
    const id = added?.passkey?.id ?? '';
    const renamed = await tab.evaluate((given) => globalThis.passkeys?.rename(given, 'Old laptop'), id);
    expect(renamed).toEqual({ ...added?.passkey, name: 'Old laptop' });
    await logOutIn(tab);
    await tab.evaluate(() =>
      globalThis.page?.auth.register({ username: 'other.user', email: 'other@example.org', password: 'correct horse' }),
    );
    const other = await addPasskeyIn(tab);
    expect(await authenticator.ids()).toHaveLength(2);
    await tab.evaluate((given) => globalThis.passkeys?.remove(given), other?.passkey?.id ?? '');
    expect(await listIn(tab)).toEqual([]);
    await vi.waitFor(async () => expect(await authenticator.ids()).toEqual([own]), { timeout: MINUTE });
  });

  it.each([
    { verifies: true, amr: ['pop', 'user', 'mfa'] },
    { verifies: false, amr: ['pop', 'user'] },
  ])('log in without a name, by a device that verifies its user or does not: %j', async ({ verifies, amr }) => {
    const { tab, person } = await loggedOut({ verifies });
    expect(await passkeyLoginIn(tab)).toBe(person.username);
    expect((await claimsIn(tab)).amr).toEqual(amr);
    expect(await sessionsIn(tab)).toMatchObject([{ binding: 'device', current: true }]);
    await tab.reload();
    await preparePasskeysIn(tab, world().service);
    expect(await tab.evaluate(() => globalThis.page?.auth.user?.username)).toBe(person.username);
    expect(await listIn(tab)).toMatchObject([{ lastUsedAt: expect.any(String) }]);
  });

  it('log in by autofill', async () => {
    const { tab, person } = await loggedOut();
    const { seen } = world().witness.watch();
    await beginAutofillIn(tab);
    expect(await autofillIn(tab)).toBe(person.username);
    const posts = seen().filter(({ method }) => method === 'POST');
    expect(posts.slice(0, 2).map(({ path, status }) => [path, status])).toEqual([
      [OPTIONS, 200],
      ['/auth/passkey', 200],
    ]);
  });

  it('log in at once where the device has one, and leave the form to others', async () => {
    const { tab, person, authenticator } = await loggedOut();
    const atOnce = () =>
      tab.evaluate(() =>
        globalThis.passkeys?.logInWithPasskey({ immediate: true }).then(
          (user) => user?.username ?? 'nobody',
          ({ code }: { code: string }) => code,
        ),
      );
    // The click on the button.
    await tab.mouse.click(1, 1);
    expect(await atOnce()).toBe(person.username);
    await logOutIn(tab);
    await authenticator.clear();
    await tab.mouse.click(1, 1);
    expect(await atOnce()).toBe('nobody');
    await tab.evaluate('PublicKeyCredential.getClientCapabilities = async () => ({})');
    expect(await atOnce()).toBe('nobody');
  });

  it('show a changed username', async () => {
    const { tab, person, authenticator } = await user();
    await addPasskeyIn(tab);
    expect(await authenticator.names()).toEqual([person.username]);
    await tab.evaluate(
      ([url, body]) =>
        globalThis.page?.auth.fetch(url, { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body }),
      [`${world().service}/users/me/username`, JSON.stringify({ username: 'another.name' })] as const,
    );
    await tab.evaluate(() => globalThis.passkeys?.signalUser());
    await vi.waitFor(async () => expect(await authenticator.names()).toEqual(['another.name']), { timeout: MINUTE });
  });

  it('are the second factor of a password', async () => {
    const { tab, person, passkey } = await loggedOut();
    expect(await passkeyLoginIn(tab)).toBe(person.username);
    await enrolAppIn(tab);
    await logOutIn(tab);
    const shown = await tab.evaluate(
      async ([at, account, password]) => {
        const [auth, passkeys] = [globalThis.page?.auth, globalThis.passkeys];
        const refused = await auth?.login({ account, password }).catch(({ code }: { code: string }) => code);
        const response = await auth?.fetch(`${at}/auth/login/pending`, { credentials: 'include' });
        const pending = (await response?.json()) as { data: PendingLogin } | undefined;
        const credential = await passkeys?.passkeyCredential({ options: pending?.data.passkey });
        const user = await auth?.logInAt('/auth/login/second-factor', { credential });
        return [refused, pending?.data.methods, user?.username, credential?.id];
      },
      [world().service, person.username, person.password] as const,
    );
    const methods = ['totp', 'recovery-code', 'passkey'];
    expect(shown).toEqual(['AUTH_SECOND_FACTOR_REQUIRED', methods, person.username, passkey.credentialId]);
    expect((await claimsIn(tab)).amr).toEqual(expect.arrayContaining(['pwd', 'pop', 'mfa']));
    expect(await sessionsIn(tab)).toMatchObject([{ binding: 'device', current: true }]);
  });

  describe('a form that waits', () => {
    const waiting = async () => {
      const given = await loggedOut();
      await given.authenticator.setPresence(false);
      await beginAutofillIn(given.tab);
      return given;
    };

    it('makes way for a button', async () => {
      const { tab, person, authenticator } = await waiting();
      await tab.evaluate(() => void globalThis.passkeys?.logInWithPasskey());
      expect(await autofillIn(tab)).toBe('nobody');
      await authenticator.setPresence(true);
      expect(await passkeyLoginIn(tab)).toBe(person.username);
    });

    it('ends when somebody logs in in another tab', async () => {
      const { tab, person } = await waiting();
      const other = await tab.context().newPage();
      onTestFinished(() => other.close());
      await other.goto(tab.url());
      await preparePasskeysIn(other, world().service);
      await other.evaluate(
        ({ username, password }) => globalThis.page?.auth.login({ account: username, password }),
        person,
      );
      expect(await autofillIn(tab)).toBe('nobody');
    });

    it('gets another challenge before the first one expires', async () => {
      const { tab, person, authenticator } = await waiting();
      pass(11 * MINUTE);
      const { arrived, letGo } = world().witness.hold(OPTIONS);
      await tab.evaluate((time) => globalThis.page?.wake(time), 6 * MINUTE);
      await arrived;
      await authenticator.setPresence(true);
      letGo();
      expect(await autofillIn(tab)).toBe(person.username);
    });
  });

  it('that nobody has are forgotten by the browser', async () => {
    const { tab, authenticator } = await user();
    const { passkey } = (await addPasskeyIn(tab)) ?? {};
    await tab.evaluate(
      (url) => globalThis.page?.auth.fetch(url, { method: 'DELETE' }),
      `${world().service}/users/me/passkeys/${passkey?.id}`,
    );
    expect(await authenticator.ids()).toHaveLength(1);
    await logOutIn(tab);
    expect(await passkeyLoginIn(tab)).toBe('DB_RECORD_NOT_FOUND');
    await vi.waitFor(async () => expect(await authenticator.ids()).toEqual([]), { timeout: MINUTE });
  });

  it('that are refused for another reason stay', async () => {
    const { tab, person, authenticator } = await loggedOut();
    const { arrived, letGo } = world().witness.hold(OPTIONS);
    const refused = passkeyLoginIn(tab);
    await arrived;
    pass(11 * MINUTE);
    letGo();
    expect(await refused).toBe('AUTH_PASSKEY_INVALID');
    expect(await passkeyLoginIn(tab)).toBe(person.username);
    expect(await authenticator.ids()).toHaveLength(1);
  });

  it('are not made without a question where the browser has filled in no password', async () => {
    const { tab } = await user();
    expect(await tab.evaluate(() => globalThis.passkeys?.offerPasskey())).toBe(false);
    expect(await listIn(tab)).toEqual([]);
    expect(await addPasskeyIn(tab)).toMatchObject({ code: null });
  });
});

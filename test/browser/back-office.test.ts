import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { registerAtService } from '../support/browser/at-service.ts';
import { canBrowse, openBrowser } from '../support/browser/chromium.ts';
import { axeFaultsOf, watchFaults } from '../support/browser/faults.ts';
import { addAuthenticator } from '../support/browser/passkey-page.ts';
import { forward } from '../support/forward.ts';
import { refreshWith, signUp } from '../support/http/auth-http.ts';
import { startService } from '../support/http/service.ts';
import { listenOnLoopback } from '../support/listen.ts';
import { freePort } from '../support/servers/free-port.ts';

const SECRET = 'a-secret-that-only-the-proxy-knows';

/** A reverse proxy that has authenticated Ada. @param office the URL of the back office */
const startProxy = async (office: () => string) => {
  const server = createServer((incoming, answer) => {
    const headers = { ...incoming.headers, 'tandem-proxy-secret': SECRET, 'remote-user': 'Ada' };
    forward(incoming, answer, new URL(office() + incoming.url), { headers });
  });
  return `http://localhost:${(await listenOnLoopback(server)).port}`;
};

it.runIf(canBrowse())(
  'somebody behind a proxy finds a user and ends the sessions, with a reason that the user reads',
  async () => {
    let office = '';
    const url = await startProxy(() => office);
    const pages = { ADMIN_IDENTITY_HEADER: 'Remote-User', ADMIN_PROXY_SECRET: SECRET };
    const service = await startService({ ADMIN_PORT: '9470', ADMIN_URL: url, ...pages });
    office = new URL(service.office.get('/').url).origin;
    const { person, cookie } = await signUp(service);
    const { browser } = await openBrowser();
    const tab = await browser.newPage();
    const faults = await watchFaults(tab);
    const looksRight = async () => {
      for (const [colorScheme, width] of [
        ['light', 320],
        ['dark', 1280],
      ] as const) {
        await tab.setViewportSize({ width, height: 800 });
        await tab.emulateMedia({ colorScheme });
        const look = `${tab.url()} ${colorScheme}`;
        expect([look, ...(await axeFaultsOf(tab))]).toEqual([look]);
        // Nothing has to be scrolled sideways.
        expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(width);
      }
    };

    await tab.goto(`${url}/office/users`);
    await tab.getByLabel('Name or address').fill(person.email.slice(0, -4).toUpperCase());
    await tab.getByRole('button', { name: 'Search' }).click();
    await looksRight();
    await tab.getByRole('link', { name: person.username }).click();
    await tab.locator('summary', { hasText: 'End all sessions' }).click();
    const form = tab.locator('details[open]');
    await form.getByLabel('Reason').fill('Your password was in a leak.');
    await looksRight();
    await form.getByRole('button').click();
    expect(await tab.getByRole('status').textContent()).toBe('End all sessions: Done.');
    expect(await tab.getByRole('main').textContent()).toContain(
      'an operator ended it Your password was in a leak. by\u00a0Ada (page)',
    );
    await looksRight();
    for (const page of ['', '/users', '/events', '/invitations', '/webhooks', '/settings']) {
      await tab.goto(`${url}/office${page}`);
      await tab.evaluate('for (const each of document.querySelectorAll("details")) each.open = true');
      await looksRight();
    }
    expect(faults).toEqual([]);

    await refreshWith(service, cookie).expect(401);
    const login = { account: person.email, password: person.password };
    const { accessToken } = (await service.http.post('/auth/login').send(login).expect(200)).body.data;
    const { body } = await service.http.get('/users/me/events').auth(accessToken, { type: 'bearer' }).expect(200);
    const ended = { kind: 'session-ended', note: 'Your password was in a leak.', actor: 'operator' };
    expect(body.data.events).toContainEqual(expect.objectContaining(ended));
  },
  120_000,
);

it.runIf(canBrowse())(
  'an operator logs in at another site with a passkey, again when the session is over, and out',
  async () => {
    let [office, ahead] = ['', 0];
    const url = (await startProxy(() => office)).replace('localhost', '127.0.0.1');
    const port = `${await freePort()}`;
    const env = { PORT: port, BASE_URL: `http://localhost:${port}`, ADMIN_PORT: '9470', ADMIN_URL: url };
    const clock = { now: () => Date.now() + ahead };
    const service = await startService({ ...env, ADMIN_USERS: 'roles:operator' }, { clock });
    office = new URL(service.office.get('/').url).origin;
    const { browser } = await openBrowser();
    const tab = await browser.newPage();
    await addAuthenticator(tab);
    const faults = await watchFaults(tab);
    const isAt = (path: string) => tab.waitForURL(`**${path}?**`);
    const click = (form: string) => tab.locator(`form[data-form="${form}"] button`).first().click();

    await tab.goto(`${url}/office/users?contains=ada`);
    const { username } = await registerAtService(tab);
    await isAt('/auth/new-passkey');
    await click('new-passkey.new-passkey');
    await isAt('/auth/app');
    const user = (await service.ports.users.findByUsername(username)) ?? expect.unreachable();
    await service.ports.users.update(user.id, { attributes: { roles: 'operator' }, now: clock.now() });
    await click('app.app');
    await isAt('/auth/step-up');
    await click('step-up.passkey');
    await isAt('/auth/app');
    await click('app.app');
    await tab.waitForURL(`${url}/office/users?contains=ada`);
    expect(await tab.getByRole('banner').textContent()).toContain(`Logged in as ${username} ${user.id} (page)`);

    ahead = 60 * 60_000;
    await tab.getByRole('button', { name: 'Search' }).click();
    await isAt('/auth/step-up');
    await click('step-up.passkey');
    await isAt('/auth/app');
    await click('app.app');
    await tab.waitForURL(`${url}/office/users?contains=ada&only=`);

    await tab.getByRole('link', { name: 'Log out' }).click();
    await click('log-out.log-out');
    await tab.waitForURL(/auth.log-in/);
    await tab.goto(`${url}/office/users`);
    await isAt('/auth/log-in');
    expect(faults).toEqual([]);
  },
  120_000,
);

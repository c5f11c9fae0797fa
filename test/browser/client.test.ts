import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canBrowse, launchChromium } from '../support/browser/chromium.ts';
import { changesIn, importing, renewIn, restoredIn } from '../support/browser/client-page.ts';
import { openSite } from '../support/browser/site.ts';
import { openWorld } from '../support/browser/world.ts';
import { aPerson } from '../support/http/service.ts';
import { runService } from '../support/processes/process.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const hintOf = (service: string) => `tandem:${service}`;

describe.runIf(canBrowse())('the client in a page of an allowed origin', () => {
  const { world, visit, signedUp } = openWorld('localhost', {});

  it('registers, restores the session after a reload, and logs out', async () => {
    const { open, person } = await visit();
    const tab = await open(world().app.publish(importing(world().service)));
    expect(await restoredIn(tab)).toBeUndefined();
    await tab.evaluate((given) => globalThis.page?.auth.register(given), person);
    await tab.reload();
    expect(await restoredIn(tab)).toBe(person.username);
    const sessions = await tab.evaluate(() => globalThis.page?.auth.sessions.list());
    expect(sessions).toMatchObject([{ current: true }]);
    await tab.evaluate(() => globalThis.page?.auth.logout());
    await tab.reload();
    expect(await restoredIn(tab)).toBeUndefined();
  });

  it('sends nothing to the service but for itself when nobody has logged in', async () => {
    const { open } = await visit();
    const { app, witness } = world();
    await visit().then(({ tab }) => tab.evaluate(() => localStorage.clear()));
    const { seen } = witness.watch();
    await restoredIn(await open(app.publish(importing(world().service))));
    expect(seen().map(({ path }) => path)).toEqual(expect.not.arrayContaining(['/auth/refresh-token']));
  });

  it('repeats a request whose token was refused', async () => {
    const { open, person, tab: first } = await signedUp();
    await first.evaluate((name) => localStorage.setItem(name, '1'), hintOf(world().service));
    const tab = await open(world().app.publish(importing(world().service)));
    await restoredIn(tab);
    const spoil = { authorization: 'Bearer expired' };
    await tab.route('**/users/me', (route) => route.continue({ headers: { ...route.request().headers(), ...spoil } }), {
      times: 1,
    });
    const { seen } = world().witness.watch();
    const me = (url: string) =>
      globalThis.page?.auth.fetch(url).then((response) => response.json() as Promise<{ data: { username: string } }>);
    expect((await tab.evaluate(me, `${world().service}/users/me`))?.data.username).toBe(person.username);
    const statuses = seen().filter(({ method }) => method !== 'OPTIONS');
    expect(statuses.map(({ path, status }) => [path, status])).toEqual([
      ['/users/me', 401],
      ['/auth/refresh-token', 200],
      ['/users/me', 200],
    ]);
  });

  it.each([-3_600_000, 3_600_000])('renews no earlier and no later with a clock that is %i ms wrong', async (clock) => {
    const { open, person, tab: first } = await signedUp();
    await first.evaluate((name) => localStorage.setItem(name, '1'), hintOf(world().service));
    const tab = await open(world().app.publish(importing(world().service, { clock })));
    expect(await restoredIn(tab)).toBe(person.username);
    const { seen } = world().witness.watch();
    await tab.evaluate(() => globalThis.page?.auth.accessToken());
    expect(seen()).toEqual([]);
    expect(await renewIn(tab)).toBe(true);
    expect(seen().map(({ status }) => status)).toEqual([200]);
  });

  it('stays logged in while the browser is offline', async () => {
    const { browser, open, person, tab: first } = await signedUp();
    await first.evaluate((name) => localStorage.setItem(name, '1'), hintOf(world().service));
    const tab = await open(world().app.publish(importing(world().service)));
    await restoredIn(tab);
    await browser.setOffline(true);
    const code = renewIn(tab).catch((error: Error) => error.message);
    expect(await code).toMatch(/No response/);
    await browser.setOffline(false);
    expect(await renewIn(tab)).toBe(true);
    expect(await tab.evaluate(() => globalThis.page?.auth.user?.username)).toBe(person.username);
    expect(await changesIn(tab)).not.toContain('ended');
  });
});

describe.runIf(canBrowse())('the client, while the service is killed and started again', () => {
  const directory = temporaryDirectory();
  const cleanups: (() => unknown)[] = [directory.remove];
  let launched: Awaited<ReturnType<typeof launchChromium>>;
  let app: Awaited<ReturnType<typeof openSite>>;
  beforeAll(async () => {
    launched = await launchChromium();
    app = await openSite('localhost');
    cleanups.push(launched.close, app.close);
  });
  afterAll(async () => {
    for (const clean of cleanups.toReversed()) await clean();
  });

  it('stays logged in', async () => {
    const env = { DATA_DIR: directory.path, ALLOWED_ORIGINS_DEV: app.origin };
    let service = await runService(env);
    const { port } = new URL(service.url);
    cleanups.push(() => service.stop('SIGKILL'));
    const tab = await launched.browser.newPage();
    await tab.goto(app.publish(importing(`http://localhost:${port}`)));
    await restoredIn(tab);
    const person = aPerson();
    await tab.evaluate((given) => globalThis.page?.auth.register(given), person);
    await service.stop('SIGKILL');
    expect(await renewIn(tab).catch((error: Error) => error.message)).toMatch(/No response/);
    service = await runService({ ...env, PORT: port });
    expect(await renewIn(tab)).toBe(true);
    expect(await changesIn(tab)).toEqual(['login', 'refresh']);
    await tab.reload();
    expect(await restoredIn(tab)).toBe(person.username);
  });
});

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { canBrowse } from '../support/browser/chromium.ts';
import type { Seen } from '../support/browser/witness.ts';
import { openWorld } from '../support/browser/world.ts';
import { readText } from '../support/checkout/repository.ts';

const REFRESH = '/auth/refresh-token';
const [, CLIENT = ''] = /```js\n([\s\S]*?)```/.exec(readText('docs/browser.md')) ?? [];

/** The code of the documentation as a script for a page: its functions become members of `client`. */
const script = (service: string): string => {
  const names = [...CLIENT.matchAll(/^export const (\w+)/gm)].map(([, name]) => name);
  const code = CLIENT.replaceAll(/^export /gm, '').replaceAll('http://localhost:3000', service);
  return `<script>const client = (() => { ${code}; return { ${names.join(', ')} }; })();</script>`;
};

type World = ReturnType<ReturnType<typeof openWorld>['world']>;
const page = ({ app, service }: World): string => app.publish(script(service));
const evaluate = (tab: Page, code: string): Promise<unknown> => tab.evaluate(code);
const nameOf = ({ service }: World): string =>
  `client.authorized('${service}/users/me').then((response) => response.json()).then(({ data }) => data.username)`;
/** The code with which a call is rejected, or `null`. */
const codeOf = (call: string): string => `${call}.then(() => null, ({ code }) => code)`;

const sent = (seen: readonly Seen[]) =>
  seen.filter(({ method }) => method !== 'OPTIONS').map(({ path, status }) => [path, status]);

describe.runIf(canBrowse())('the client that docs/browser.md prints', () => {
  const { world, visit, signedUp } = openWorld('localhost', {});

  it('has at most 30 lines', () => {
    expect(CLIENT.trimEnd().split('\n').length).toBeLessThanOrEqual(30);
  });

  it('registers, logs in, stays logged in after a reload, and logs out', async () => {
    const { open, person } = await visit();
    const tab = await open(page(world()));
    await evaluate(tab, `client.register(${JSON.stringify(person)})`);
    await evaluate(tab, `client.login('${person.username}', '${person.password}')`);
    expect(await evaluate(tab, nameOf(world()))).toBe(person.username);
    await tab.reload();
    expect(await evaluate(tab, nameOf(world()))).toBe(person.username);
    await evaluate(tab, 'client.logout()');
    expect(await evaluate(tab, codeOf('client.refresh()'))).toBe('AUTH_FAILED');
  });

  it('refreshes when an access token is refused, and repeats the request', async () => {
    const { open, person } = await signedUp();
    const tab = await open(page(world()));
    await evaluate(tab, 'client.refresh()');
    const spoil = { authorization: 'Bearer expired' };
    await tab.route('**/users/me', (route) => route.continue({ headers: { ...route.request().headers(), ...spoil } }), {
      times: 1,
    });
    const { seen } = world().witness.watch();
    expect(await evaluate(tab, nameOf(world()))).toBe(person.username);
    expect(sent(seen())).toEqual([
      ['/users/me', 401],
      [REFRESH, 200],
      ['/users/me', 200],
    ]);
  });

  it('sends one refresh for many callers', async () => {
    const { open } = await signedUp();
    const tab = await open(page(world()));
    const { seen } = world().witness.watch();
    await evaluate(tab, 'Promise.all([client.refresh(), client.refresh(), client.refresh()])');
    expect(sent(seen())).toEqual([[REFRESH, 200]]);
  });

  it('stays logged in in two tabs that refresh at once', async () => {
    const { open, person } = await signedUp();
    const tabs = [await open(page(world())), await open(page(world()))];
    const { seen } = world().witness.watch();
    world().witness.gather(2);
    const names = await Promise.all(tabs.map((tab) => evaluate(tab, nameOf(world()))));
    expect(names).toEqual([person.username, person.username]);
    const statuses = seen()
      .filter(({ path }) => path === REFRESH)
      .map(({ status }) => status);
    expect(statuses).toContain(401);
    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
  });

  it('rejects with the code of the error', async () => {
    const { open, person } = await signedUp();
    const tab = await open(page(world()));
    expect(await evaluate(tab, codeOf(`client.login('${person.username}', 'wrong')`))).toBe('AUTH_CREDENTIALS_INVALID');
  });
});

describe.runIf(canBrowse())('the refresh that the README prints', () => {
  const { world, signedUp } = openWorld('localhost', {});
  const [, section = ''] = readText('README.md').split('## From a browser\n');
  const [, refresh = ''] = /```js\n([\s\S]*?)```/.exec(section) ?? [];

  it('succeeds in two tabs that refresh at once', async () => {
    const { open } = await signedUp();
    const html = `<script>${refresh.replaceAll('http://localhost:3000', world().service)}</script>`;
    const tabs = [await open(world().app.publish(html)), await open(world().app.publish(html))];
    world().witness.gather(2);
    const tokens = await Promise.all(tabs.map((tab) => evaluate(tab, 'refresh()')));
    expect(tokens).toEqual([expect.any(String), expect.any(String)]);
  });
});

describe.runIf(canBrowse())('a page on 127.0.0.1 with the service on localhost and the default cookie', () => {
  const { world, signedUp } = openWorld('127.0.0.1', {});

  it('logs in, but its refresh has no cookie', async () => {
    const { open, person } = await signedUp();
    const tab = await open(page(world()));
    await evaluate(tab, `client.login('${person.username}', '${person.password}')`);
    expect(await evaluate(tab, nameOf(world()))).toBe(person.username);
    expect(await evaluate(tab, codeOf('client.refresh()'))).toBe('AUTH_FAILED');
  });
});

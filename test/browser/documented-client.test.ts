import { describe, expect, it } from 'vitest';
import { logInAtService, registerAtService } from '../support/browser/at-service.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import { openWorld } from '../support/browser/world.ts';
import { readText } from '../support/checkout/repository.ts';

const [, example = ''] = /```js\n([\s\S]*?)```/.exec(readText('docs/start.md')) ?? [];

describe.runIf(canBrowse())('the example in docs/start.md', () => {
  const { world, visit } = openWorld('localhost', {});

  it('has five lines', () => {
    expect(example.split('\n').filter(Boolean).length).toBeLessThanOrEqual(5);
  });

  it('logs in, restores the session when it runs again, and calls the service', async () => {
    const { open, person, post } = await visit();
    await post('/auth/register', { ...person, username: person.username, password: 'correct horse' });
    const code = example
      .replaceAll('http://localhost:3000', world().service)
      .replaceAll("'ada'", `'${person.username}'`);
    const html = `<script type="module">${code} globalThis.answer = response.status;</script>`;
    const tab = await open(world().app.publish(html));
    const { seen } = world().witness.watch();
    const answer = () =>
      tab.waitForFunction(() => (globalThis as { answer?: number }).answer).then((it) => it.jsonValue());
    expect(await answer()).toBe(200);
    await tab.reload();
    expect(await answer()).toBe(200);
    expect(seen().filter(({ path, method }) => path === '/auth/login' && method === 'POST').length).toBeLessThanOrEqual(
      1,
    );
  });
});

describe.runIf(canBrowse())('the application without a form in docs/browser.md', () => {
  const { world, visit } = openWorld('localhost', {}, {}, { hasPages: true });
  const [, example = ''] = /```html\n([\s\S]*?)```/.exec(readText('docs/browser.md')) ?? [];

  it('has 15 lines', () => {
    expect(example.split('\n').filter((line) => line.trim()).length).toBeLessThanOrEqual(15);
  });

  it('has users who register, find their settings, log out and log in', async () => {
    const { open } = await visit();
    const page = world().app.publish(example.replaceAll('http://localhost:3000', world().service));
    const tab = await open(page);
    await tab.click('text="Log in"');
    const { username, password } = await registerAtService(tab);
    const settings = (await tab.getByRole('link', { name: 'Settings' }).getAttribute('href')) ?? '';
    expect(settings).toContain('/auth/account?to=');
    expect(tab.url()).toBe(page);
    await tab.goto(settings);
    expect(await tab.inputValue('[name=username]')).toBe(username);
    await tab.goto(page);
    await tab.click('text="Log out"');
    await tab.click('text="Log in"');
    await logInAtService(tab, { username, password });
    await tab.getByRole('link', { name: 'Settings' }).waitFor();
  });
});

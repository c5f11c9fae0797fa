import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PAGE_FILES } from '../../src/infrastructure/template-files.ts';
import { canBrowse, openBrowser } from '../support/browser/chromium.ts';
import { CHROMIUM, openUserPages } from '../support/browser/user-pages.ts';
import { aPerson } from '../support/http/service.ts';
import { runHere } from '../support/processes/commands.ts';
import { temporaryDirectory } from '../support/storage/temporary-directory.ts';

const { locales, texts } = await PAGE_FILES.builtIn();
const WIDTH = 320;

type Frame = { readonly title: string; readonly overflow: number; readonly heading: string; readonly address: string };

/** Shows each frame of a sheet in turn as a page of its own. Frames side by side take ten times as long. */
const SHOW_EACH = `(sheet) => {
  const parse = (text) => new DOMParser().parseFromString(text, 'text/html');
  return [...parse(sheet).querySelectorAll('iframe')].map(({ title, srcdoc }) => {
    const root = document.adoptNode(parse(srcdoc).documentElement);
    root.querySelector('meta[http-equiv=refresh]')?.remove();
    document.documentElement.replaceWith(root);
    const directionOf = (selector) => {
      const found = root.querySelector(selector);
      return found === null ? null : getComputedStyle(found).direction;
    };
    return {
      title,
      overflow: root.scrollWidth - root.clientWidth,
      heading: directionOf('h1'),
      address: directionOf('input[type=email], main code'),
    };
  });
}`;

describe.runIf(canBrowse())('every page and mail, in every state', () => {
  it.each(locales)('fits a narrow screen in %s, and is read in its direction', async (locale) => {
    const directory = temporaryDirectory();
    onTestFinished(directory.remove);
    const sheet = join(directory.path, 'sheet.html');
    expect(await runHere(['templates', '--locale', locale, '--to', sheet])).toMatchObject({ status: 0 });
    const { browser } = await openBrowser({}, { viewport: { width: WIDTH, height: 640 } });
    const page = await browser.newPage();
    const frames: readonly Frame[] = await page.evaluate(
      `(${SHOW_EACH})(${JSON.stringify(readFileSync(sheet, 'utf8'))})`,
    );
    expect(frames.length).toBeGreaterThan(100);
    expect(await page.evaluate('document.documentElement.clientWidth')).toBe(WIDTH);
    expect(frames.filter(({ overflow }) => overflow > 0).map(({ title }) => title)).toEqual([]);
    expect(new Set(frames.flatMap(({ heading }) => heading ?? []))).toEqual(new Set([texts.get(locale)?.direction]));
    expect(new Set(frames.flatMap(({ address }) => address ?? []))).toEqual(new Set(['ltr']));
  });
});

describe.runIf(canBrowse())('the choice of the language', () => {
  const { visitor, linkFor } = openUserPages();

  it('holds through a log-in and for the account, from right to left', async () => {
    const { page, open, submit, at } = await visitor(CHROMIUM);
    const direction = () => page.locator('html').getAttribute('dir');
    await open('/auth/register?to=/auth/account/history');
    await page.locator('footer summary').click();
    await page.locator('footer a[hreflang=ar]').click();
    await page.waitForURL(/locale=ar/);
    expect(await direction()).toBe('rtl');
    await submit('register.register', aPerson());
    expect(at()).toBe('/auth/account/history');
    expect(await direction()).toBe('rtl');
    const [title, main] = await Promise.all([page.locator('h1').boundingBox(), page.locator('main').boundingBox()]);
    expect((title?.x ?? 0) + (title?.width ?? 0)).toBeGreaterThan((main?.x ?? 0) + (main?.width ?? 0) / 2);
    await open('/auth/account');
    expect(await page.locator('select[name=locale]').inputValue()).toBe('ar');
  });

  it('keeps the token of a link in a mail', async () => {
    const { page, open, submit, isAt } = await visitor(CHROMIUM);
    const { email, ...person } = aPerson();
    await open('/auth/register');
    await submit('register.register', { email, ...person });
    await open('/auth/log-out');
    await submit('log-out.log-out');
    await open('/auth/forgot');
    await submit('forgot.forgot', { email });
    await open(await linkFor(email, 'password-reset'));
    await page.locator('footer summary').click();
    await page.locator('footer a[hreflang=ja]').click();
    await page.waitForURL(/locale=ja$/);
    expect(await page.locator('h1').textContent()).toBe(texts.get('ja')?.pages['password-reset']?.title);
    await submit('password-reset.password-reset', { newPassword: 'another horse battery' });
    await isAt('/auth/link/done');
  });
});

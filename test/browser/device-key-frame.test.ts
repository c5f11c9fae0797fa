// Proves ASVS 3.5.5; website-6, bcp-11
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Form, formPath, PAGES, type PageName, takesProof } from '../../src/adapters/http/forms/flow.ts';
import { openApplications } from '../support/browser/applications.ts';
import { canBrowse } from '../support/browser/chromium.ts';
import { bodyFields } from '../support/http/samples.ts';
import { declaredRoutes } from '../support/http/service.ts';

const LOGIN = '/auth/login';

/** What a window is asked for. */
type Request = { readonly path: string; readonly create: boolean; readonly again: boolean };

const A_LOGIN: Request = { path: LOGIN, create: true, again: false };

/** The key of a proof, and what it is for. */
const partsOf = (proof: string | undefined) => {
  const [header, claims] = String(proof)
    .split('.', 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
  return { key: header.jwk.x, ...claims };
};

/** Asks a window for a proof. @param target an expression for the window */
const askIn = (tab: Page, target: string, request = A_LOGIN): Promise<string | undefined> =>
  tab.evaluate(`new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => resolve(data);
    (${target}).postMessage(${JSON.stringify(request)}, '*', [port2]);
  })`);

const FRAME = "document.querySelector('iframe').contentWindow";

describe.runIf(canBrowse())('the key of a device', () => {
  const { world, signedUp } = openApplications();

  const openService = async (path: string): Promise<Page> => {
    const tab = await world().browser.newPage();
    onTestFinished(() => tab.close());
    await tab.goto(world().service + path);
    return tab;
  };
  /** A proof that a page of the service's own origin makes itself. */
  const proveIn = (tab: Page, request: Request): Promise<string | undefined> =>
    tab.evaluate(`import('/device-key.js').then(({ prove }) => prove(${JSON.stringify(request)}))`);

  it('is one, even if tabs ask for it at once, and its private part cannot be read', async () => {
    const tab = await openService('/console');
    await tab.evaluate(`new Promise((resolve) => {
      indexedDB.deleteDatabase('tandem-device').onsuccess = resolve;
    })`);
    expect(await proveIn(tab, { ...A_LOGIN, create: false })).toBeUndefined();
    const tabs = [tab, await openService('/console')];
    const proofs = await Promise.all(tabs.map((each) => proveIn(each, A_LOGIN)));
    const [one, other] = proofs.map(partsOf);
    expect(one.key).toBe(other.key);
    expect(one).toMatchObject({ htm: 'POST', htu: world().service + LOGIN });
    expect(one.jti).not.toBe(other.jti);
    const exported = tab.evaluate(`new Promise((resolve) => {
      indexedDB.open('tandem-device').onsuccess = ({ target: { result: database } }) => {
        database.transaction('keys').objectStore('keys').get('device').onsuccess = ({ target: { result: key } }) =>
          resolve(crypto.subtle.exportKey('jwk', key.privateKey).catch(({ name }) => name));
      };
    })`);
    expect(await exported).toBe('InvalidAccessError');
  });

  it('is that of the applications in pages of the service, too', async () => {
    const { tab } = await signedUp();
    const ofApplication = partsOf(await askIn(tab, FRAME));
    expect(partsOf(await proveIn(await openService('/console'), A_LOGIN)).key).toBe(ofApplication.key);
    expect(partsOf(await askIn(await openService('/device-key'), 'self')).key).toBe(ofApplication.key);
  });

  it('signs for each route, and each form of a page, that takes a proof', async () => {
    // An app has a key of its own.
    const routes = (await declaredRoutes()).filter((each) => 'proof' in bodyFields(each) && each.name !== 'app-login');
    const forms = Object.entries(PAGES).flatMap(([page, { forms }]) =>
      Object.entries<Form>(forms)
        .filter(([, form]) => takesProof(form))
        .map(([form]) => formPath(page as PageName, form)),
    );
    expect([routes.length > 5, forms.length > 5]).toEqual([true, true]);
    const { tab } = await signedUp();
    for (const path of [...routes.map(({ path }) => path), ...forms])
      expect([path, typeof (await askIn(tab, FRAME, { ...A_LOGIN, path }))]).toEqual([path, 'string']);
  });

  it('signs nothing for another path than those that need a proof', async () => {
    const { tab } = await signedUp();
    for (const path of ['/auth/sessions', '/users/me', 'https://elsewhere.example/auth/login', '/auth/login?', '']) {
      expect([path, await askIn(tab, FRAME, { ...A_LOGIN, path })]).toEqual([path, undefined]);
      expect(await askIn(tab, FRAME)).toBeTypeOf('string');
    }
  });

  it('is not for a page whose origin is not allowed: it cannot frame the page, and gets no proof of the frame of another', async () => {
    const { tab: application } = await signedUp();
    const tab = await world().browser.newPage();
    await tab.goto(world().neighbour.publish(`<iframe src="${world().service}/device-key"></iframe>`));
    await expect.poll(() => tab.frames()[1]?.url()).toMatch(/^chrome-error:/);
    await tab.evaluate(`globalThis.opened = open('${application.url()}')`);
    await tab.waitForFunction('globalThis.opened.length === 1');
    const popup = tab.context().pages().at(-1);
    await popup?.waitForFunction(() => globalThis.page?.auth.user);
    expect(await askIn(tab, 'globalThis.opened[0]')).toBeUndefined();
    expect(await askIn(popup as Page, FRAME)).toBeTypeOf('string');
  });
});

describe.runIf(canBrowse())('where keys of devices are off', () => {
  const { signedUp } = openApplications({ DEVICE_BINDING: 'off' });

  it('the frame says at once that there is none, and nothing is bound', async () => {
    const { tab } = await signedUp();
    expect(await tab.evaluate(() => globalThis.page?.auth.binding)).toBe('none');
    expect(await tab.evaluate(() => globalThis.page?.auth.sessions.list())).toMatchObject([{ binding: 'none' }]);
  });
});

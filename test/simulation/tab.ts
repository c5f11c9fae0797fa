import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { createAuthClient } from '../../client/src/index.ts';
import { readText } from '../support/checkout/repository.ts';
import type { Browser, Internet, Tab } from './browser.ts';
import { kernel } from './kernel.ts';
import { simulatedTimers } from './process.ts';
import { type Answer, APPLICATION, BASE } from './service.ts';

/** Tabs that run the client as it is served, and the page of the device's key in a frame. */

type Realm = Readonly<Record<string, unknown>>;

/** A module as a function of the globals of its realm, which returns what it exports. */
const programOf = (file: string) => {
  const code = readText(`client/dist/${file}`)
    .replaceAll('import.meta.url', 'moduleUrl')
    .replace(/export\{([^}]*)\};?\s*$/, (_, names: string) => `return {${names.replace(/(\w+) as (\w+)/g, '$2:$1')}}`);
  let program: ((...given: unknown[]) => unknown) | undefined;
  return (realm: Realm) => {
    program ??= new Function(...Object.keys(realm), `'use strict';${code}`) as NonNullable<typeof program>;
    return program(...Object.values(realm));
  };
};
const client = programOf('client.js');
const deviceKey = programOf('device-key.js');

export const openTab = (browser: Browser, internet: Internet): Tab => {
  const { chance } = browser;
  const target = new EventTarget();
  const page = Object.assign(new EventTarget(), { hidden: false });
  let [isClosed, isFrozen] = [false, false];
  let pending: (() => void)[] = [];
  const run = (call: () => void): void => {
    if (isClosed) return;
    browser.whenAwake(() => {
      if (isFrozen) pending.push(call);
      else if (!isClosed) call();
    });
  };
  const dispatch = (type: string, members: object = {}) =>
    target.dispatchEvent(Object.assign(new Event(type), members));
  const later = (call: () => void) => kernel.after(chance.between(0.1, 3), () => run(call));
  const common = realmOf(browser, run, later);
  const fetchAs = (origin: string | null) => async (input: Request | URL, init?: RequestInit) => {
    const request = new Request(input, init);
    const body = request.body === null ? undefined : await request.text();
    const headers = Object.fromEntries(request.headers);
    const sent = browser.send(request.method, request.url, { headers, body, origin });
    return new Promise<Response>((resolve, reject) =>
      sent.then(
        (answer) => run(() => resolve(responseOf(answer))),
        (error) => run(() => reject(error)),
      ),
    );
  };
  const openFrame = async (frame: ReturnType<typeof frameOf>): Promise<void> => {
    const headers = { 'sec-fetch-dest': 'iframe', 'sec-fetch-mode': 'navigate' };
    const answer = await browser.send('GET', `${BASE}/device-key`, { origin: null, headers }).catch(() => null);
    const [, origins] = /data-origins="([^"]*)"/.exec(answer?.body ?? '') ?? [];
    if (isClosed) return;
    if (origins !== undefined)
      deviceKey({
        ...common,
        document: { documentElement: { dataset: { origins } } },
        location: { origin: BASE },
        moduleUrl: `${BASE}/device-key.js`,
        fetch: fetchAs(null),
        addEventListener: (_type: string, call: (event: object) => void) => frame.listeners.push(call),
        parent: { postMessage: () => later(() => dispatch('message', { source: frame.contentWindow })) },
        globalThis: common,
      });
    frame.onload?.();
  };
  const body = {
    append(frame: ReturnType<typeof frameOf>): void {
      frame.isConnected = true;
      void openFrame(frame);
    },
  };
  const tab = {
    browser,
    isClosed: () => isClosed,
    run,
    happens: (type: string) => run(() => void dispatch(type)),
    freeze(): void {
      isFrozen = true;
    },
    hide(): void {
      page.hidden = true;
      tab.happens('visibilitychange');
    },
    show(): void {
      isFrozen = false;
      const calls = pending;
      pending = [];
      for (const call of calls) run(call);
      if (!page.hidden) return;
      page.hidden = false;
      tab.happens('visibilitychange');
    },
    close(): void {
      tab.auth.dispose();
      isClosed = true;
      browser.tabs.delete(tab);
      for (const channel of browser.channels) if (channel.tab === tab) browser.channels.delete(channel);
    },
    auth: undefined as unknown as Tab['auth'],
  };
  const window = {
    document: Object.assign(page, { body, documentElement: body, createElement: () => frameOf(later) }),
    location: { href: `${APPLICATION}/`, origin: APPLICATION, hostname: 'app.example.com', protocol: 'https:' },
    history: { state: null, replaceState: () => undefined },
    navigator: common.navigator,
    localStorage: browser.storage,
    addEventListener: target.addEventListener.bind(target),
    removeEventListener: target.removeEventListener.bind(target),
  };
  const realm = { ...common, ...window, BroadcastChannel: channelsOf(browser, () => tab), fetch: fetchAs(APPLICATION) };
  const exported = client({ ...realm, globalThis: window, moduleUrl: '' }) as {
    createAuthClient: typeof createAuthClient;
  };
  tab.auth = exported.createAuthClient({ baseUrl: BASE, fetch: fetchAs(APPLICATION) as typeof fetch });
  tab.auth.onChange((user, why) => internet.changed(tab, user?.username ?? null, why));
  browser.tabs.add(tab);
  return tab;
};

const responseOf = ({ status, headers, body }: Answer): Response =>
  new Response([204, 304].includes(status) ? null : body, { status, headers });

type Call = (...given: unknown[]) => void;
/** What pages and frames have alike. */
const realmOf = (browser: Browser, run: (call: () => void) => void, later: (call: () => void) => void) => {
  const { chance, clock } = browser;
  class BrowserDate extends Date {
    constructor(...given: unknown[]) {
      super(...((given.length === 0 ? [BrowserDate.now()] : given) as [number]));
    }
    static override now = (): number => Math.floor(clock());
  }
  return {
    setTimeout: (call: Call, delay?: number, ...given: unknown[]) =>
      simulatedTimers.setTimeout(() => run(() => call(...given)), delay),
    clearTimeout: simulatedTimers.clearTimeout,
    performance: { now: browser.awake },
    Date: BrowserDate,
    Math: Object.assign(Object.create(Math), { random: chance.next }),
    MessageChannel: class {
      readonly port1 = { onmessage: undefined as ((event: object) => void) | undefined, close: () => undefined };
      readonly port2 = { postMessage: (data: unknown) => later(() => this.port1.onmessage?.({ data })) };
    },
    console: { error: () => undefined },
    navigator: {
      get onLine() {
        return !browser.line.isOffline;
      },
      vendor: 'Google Inc.',
    },
    crypto: { subtle, randomUUID: chance.uuid },
    indexedDB: browser.hasKeys ? storeOfKeys(browser, later) : undefined,
  };
};

const subtle = {
  generateKey: async () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  exportKey: async (_format: string, key: KeyObject) => key.export({ format: 'jwk' }),
  sign: async (_algorithm: unknown, key: KeyObject, bytes: Uint8Array) =>
    new Uint8Array(sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' })).buffer,
};

/** The part of IndexedDB that the page of the key uses. */
const storeOfKeys = ({ chance, keys, ...browser }: Browser, later: (call: () => void) => void) => {
  const request = (work: () => unknown) => {
    const made = { result: undefined as unknown, error: undefined as unknown, onsuccess: () => {}, onerror: () => {} };
    later(() => {
      try {
        if (chance.happens(browser.keyFaults)) throw new Error('UnknownError');
        made.result = work();
      } catch (error) {
        made.error = error;
        return made.onerror();
      }
      made.onsuccess();
    });
    return made;
  };
  const store = {
    get: (name: string) => request(() => keys.get(name)),
    add: (value: unknown, name: string) =>
      request(() => {
        if (keys.has(name)) throw new Error('ConstraintError');
        keys.set(name, value);
      }),
  };
  const database = { close: () => undefined, transaction: () => ({ objectStore: () => store }) };
  return { open: () => request(() => database) };
};

const frameOf = (later: (call: () => void) => void) => {
  const listeners: ((event: object) => void)[] = [];
  return {
    listeners,
    src: '',
    style: {},
    onload: undefined as (() => void) | undefined,
    isConnected: false,
    remove(): void {
      this.isConnected = false;
    },
    contentWindow: {
      postMessage: (data: unknown, _origin: string, ports: unknown) =>
        later(() => {
          for (const call of listeners) call({ origin: APPLICATION, data, ports });
        }),
    },
  };
};

const channelsOf = ({ channels, chance }: Browser, tab: () => Tab) =>
  class {
    onmessage: ((event: object) => void) | undefined;
    readonly #own;
    constructor(name: string) {
      this.#own = { name, tab: tab(), hear: (data: unknown) => this.onmessage?.({ data }) };
      channels.add(this.#own);
    }
    postMessage(data: unknown): void {
      for (const other of channels)
        if (other !== this.#own && other.name === this.#own.name)
          kernel.after(chance.between(0.1, 15), () => {
            if (channels.has(other)) other.tab.run(() => other.hear(data));
          });
    }
    close(): void {
      channels.delete(this.#own);
    }
  };

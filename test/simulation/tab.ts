import type * as Client from '../../client/src/index.ts';
import { readText } from '../support/checkout/repository.ts';
import type { Browser, Tab } from './browser.ts';
import { judgeLogOut } from './internet.ts';
import { kernel, tell } from './kernel.ts';
import { setTimeout } from './process.ts';
import { APPLICATION, BASE, sessionOf } from './requests.ts';

/** Tabs that run the client as it is served, and what the page of the device's key runs. */

/** A module over the globals of its realm, which returns what it exports. */
const programOf = (file: string) => {
  const code = readText(`client/dist/${file}`)
    .replaceAll('import.meta.url', 'location.href')
    .replace(/export\{([^}]*)\};?\s*$/, (_, names: string) => `return {${names.replace(/(\w+) as (\w+)/g, '$2:$1')}}`);
  return new Function('realm', `with (realm) {${code}}`) as (realm: object) => unknown;
};
const [client, deviceKey] = [programOf('client.js'), programOf('device-key.js')];

type Call = (...given: unknown[]) => void;
type Later = (call: () => void) => void;
type Hear = (event: object) => void;

export const openTab = (browser: Browser): Tab => {
  const { chance, line, name, skew } = browser;
  const window = new EventTarget();
  const waiting: (() => void)[] = [];
  let [isFrozen, isClosed] = [false, false];
  /** Now, or when the machine is awake and the page is not frozen any more. */
  const run = (call: () => void): void => {
    if (isFrozen || browser.isAsleep()) waiting.push(call);
    else if (!isClosed) call();
  };
  const goOn = (): void => waiting.splice(0).forEach(run);
  const later: Later = (call) => void kernel.after(chance.between(0.1, 3), () => run(call));
  const happens = (type: string, members = {}): void =>
    run(() => void window.dispatchEvent(Object.assign(new Event(type), members)));
  const send: Browser['send'] = (...given) => browser.send(...given).finally(() => new Promise<void>(run));
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const text = request.body === null ? undefined : await request.text();
    const sent = { headers: Object.fromEntries(request.headers), body: text };
    const { status, headers, body } = await send(request.method, request.url.slice(BASE.length), sent);
    return new Response([204, 304].includes(status) ? null : body, { status, headers });
  };
  /** What pages and frames have alike. */
  const common = {
    ...{ fetch, MessageChannel: messageChannelOf(later), console: { error: () => undefined } },
    setTimeout: (call: Call, delay?: number, ...given: unknown[]) => setTimeout(() => run(() => call(...given)), delay),
    performance: { now: browser.awake },
    Date: { parse: Date.parse, now: () => Math.floor(kernel.time + skew) },
    navigator: Object.assign(Object.create(line), { vendor: 'Google Inc.' }),
    indexedDB: browser.hasKeys ? { open: () => openKeys(browser, later) } : undefined,
  };
  const document = { hidden: false, ...framesOf(common, send, later, happens) };
  const global = Object.assign(window, common, {
    ...{ document, localStorage: browser.storage, BroadcastChannel: broadcastChannelOf(browser, run) },
    location: { href: `${APPLICATION}/`, origin: APPLICATION, hostname: 'app.example.com', protocol: 'https:' },
    history: { state: null, replaceState: () => undefined },
  });
  const { createAuthClient } = client({ ...global, globalThis: global }) as typeof Client;
  const auth = createAuthClient({ baseUrl: BASE, fetch });
  const turn =
    (hidden: boolean, freezes = false) =>
    () => {
      isFrozen &&= freezes;
      if (!isFrozen) goOn();
      const isTurned = document.hidden !== hidden;
      document.hidden = hidden;
      // It bubbles from the document, and the client listens at the window.
      if (isTurned) happens('visibilitychange');
      isFrozen = freezes;
    };
  const close = (): void => {
    auth.dispose();
    isClosed = true;
    browser.tabs.delete(tab);
  };
  const tab = { auth, goOn, happens, hide: turn(true), freeze: turn(true, true), show: turn(false), close };
  let session = '';
  auth.onChange((user, why) => {
    tell(`${name}: a tab has ${user?.username ?? 'nobody'} (${why})`);
    const current = sessionOf(browser.token());
    // Another tab may have opened another session since.
    if (why === 'ended' && session === current)
      judgeLogOut(name, browser.token(), 'a tab says that the session has ended');
    if (user !== null) session = current;
  });
  browser.tabs.add(tab);
  return tab;
};

const messageChannelOf = (later: Later) =>
  class {
    readonly port1 = { onmessage: undefined as Hear | undefined, close: () => undefined };
    readonly port2 = { postMessage: (data: unknown) => later(() => this.port1.onmessage?.({ data })) };
  };

/** Its messages go to the other tabs. */
const broadcastChannelOf = ({ channels, chance }: Browser, run: Later) =>
  class {
    onmessage: Hear | undefined;
    readonly #hear = (data: unknown): void => run(() => channels.has(this.#hear) && this.onmessage?.({ data }));
    readonly close = () => channels.delete(this.#hear);
    constructor() {
      channels.add(this.#hear);
    }
    postMessage(data: unknown): void {
      for (const hear of channels) if (hear !== this.#hear) kernel.after(chance.between(0.1, 15), () => hear(data));
    }
  };

/** The part of IndexedDB that the page of the key uses. */
const openKeys = (browser: Browser, later: Later) => {
  const { chance, keys } = browser;
  const request = (work: () => unknown) => {
    const made = { result: undefined as unknown, onsuccess: () => {}, onerror: () => {} };
    later(() => {
      if (chance.happens(browser.keyFaults)) return made.onerror();
      made.result = work();
      made.onsuccess();
    });
    return made;
  };
  const store = {
    get: (name: string) => request(() => keys.get(name)),
    add: (value: unknown, name: string) => request(() => void (keys.has(name) || keys.set(name, value))),
  };
  return request(() => ({ close: () => undefined, transaction: () => ({ objectStore: () => store }) }));
};

/** Frames with the page of the key, which proves what it is asked to. */
const framesOf = (
  common: object,
  send: Browser['send'],
  later: Later,
  happens: (type: string, members: object) => void,
) => ({
  createElement() {
    const postMessage = (data: unknown, _to: string, ports: object[]) =>
      later(() => frame.hear({ data, ports, origin: APPLICATION }));
    const contentWindow = { postMessage };
    const remove = () => Object.assign(frame, { isConnected: false });
    const frame = {
      src: '',
      style: {},
      contentWindow,
      isConnected: false,
      remove,
      onload() {},
      hear(_event: object) {},
    };
    return frame;
  },
  body: {
    async append(frame: { contentWindow: object; onload(): void }): Promise<void> {
      Object.assign(frame, { isConnected: true });
      const headers = { 'sec-fetch-dest': 'iframe', 'sec-fetch-mode': 'navigate' };
      const page = await send('GET', '/device-key', { origin: null, headers }).catch(() => null);
      const realm = {
        ...{ ...common, globalThis: common, location: { href: `${BASE}/device-key.js`, origin: BASE } },
        document: { documentElement: { dataset: { origins: APPLICATION } } },
        parent: { postMessage: () => later(() => happens('message', { source: frame.contentWindow })) },
        addEventListener: (_type: string, hear: Hear) => Object.assign(frame, { hear }),
      };
      if (page?.status === 200) deviceKey(realm);
      frame.onload();
    },
  },
});

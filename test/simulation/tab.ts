import type * as Client from '../../client/src/index.ts';
import { readText } from '../support/checkout/repository.ts';
import * as parts from '../support/page-parts.ts';
import type { Browser, Tab } from './browser.ts';
import { judgeLogOut } from './internet.ts';
import { kernel, trace } from './kernel.ts';
import { APPLICATION, BASE, sessionOf } from './requests.ts';

/** Tabs that run the client and the page of the device's key, as the service serves them. */

/** A built module as a function, which runs it over the globals of a realm, and returns its exports. */
const programOf = (file: string) => {
  const code = readText(`client/dist/${file}`)
    .replaceAll('import.meta.url', 'location.href')
    .replace(/export\{([^}]*)\};?\s*$/, (_, names: string) => `return {${names.replace(/(\w+) as (\w+)/g, '$2:$1')}}`);
  return new Function('realm', `with (realm) {${code}}`) as (realm: object) => unknown;
};
const [client, deviceKey] = [programOf('client.js'), programOf('device-key.js')];

type Call = (...given: unknown[]) => void;
type Hear = (event: object) => void;
type Happens = (type: string, members?: object) => void;

export const openTab = (browser: Browser): Tab => {
  const { chance, line, name, skew, channels } = browser;
  const window = new EventTarget();
  const waiting: (() => void)[] = [];
  let [isFrozen, isClosed, session] = [false, false, ''];
  /** Runs a callback now, or if the machine sleeps or the page is frozen, afterwards. */
  const run: parts.Later = (call) => {
    if (isFrozen || browser.isAsleep()) waiting.push(call);
    else if (!isClosed) call();
  };
  const goOn = (): void => waiting.splice(0).forEach(run);
  const later: parts.Later = (call) => void kernel.after(chance.between(0.1, 3), () => run(call));
  const happens: Happens = (type, members = {}) =>
    run(() => void window.dispatchEvent(Object.assign(new Event(type), members)));
  const send: Browser['send'] = (...given) => browser.send(...given).finally(() => new Promise<void>(run));
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const text = request.body === null ? undefined : await request.text();
    const sent = { headers: Object.fromEntries(request.headers), body: text };
    const { status, headers, body } = await send(request.method, request.url.slice(BASE.length), sent);
    return new Response([204, 304].includes(status) ? null : body, { status, headers });
  };
  /** The globals that pages and frames have in common. */
  const common = {
    ...{ fetch, MessageChannel: parts.messageChannel(later), console: { error: () => undefined } },
    setTimeout: (call: Call, delay?: number, ...given: unknown[]) => setTimeout(() => run(() => call(...given)), delay),
    performance: { now: browser.awake },
    Date: { parse: Date.parse, now: () => Math.floor(kernel.time + skew) },
    navigator: Object.assign(Object.create(line), { vendor: 'Google Inc.' }),
    indexedDB: browser.hasKeys ? { open: () => openKeys(browser, later) } : undefined,
  };
  const document = { hidden: false, ...framesOf(common, send, later, happens) };
  const post = (data: unknown, others: readonly parts.Channel[]): void => {
    for (const { hear } of others) kernel.after(chance.between(0.1, 15), () => hear(data));
  };
  const global = Object.assign(window, common, {
    ...{ document, localStorage: browser.storage, BroadcastChannel: parts.broadcastChannel(channels, post, run) },
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
      // The event bubbles from the document to the window, where the client listens.
      if (isTurned) happens('visibilitychange');
      isFrozen = freezes;
    };
  const close = (): void => {
    auth.dispose();
    isClosed = true;
    browser.tabs.delete(tab);
  };
  const tab = { auth, goOn, happens, hide: turn(true), freeze: turn(true, true), show: turn(false), close };
  auth.onChange((user, why) => {
    trace(`${name}: a tab has ${user?.username ?? 'nobody'} (${why})`);
    const current = sessionOf(browser.token());
    // Another tab may have opened another session since.
    if (why === 'ended' && session === current)
      judgeLogOut(name, browser.token(), 'a tab says that the session has ended');
    if (user !== null) session = current;
  });
  browser.tabs.add(tab);
  return tab;
};

/** The part of IndexedDB that the page of the device's key uses. */
const openKeys = (browser: Browser, later: parts.Later) => {
  const { chance, keys, line } = browser;
  const request = (work: () => unknown) => {
    const made = { result: undefined as unknown, onsuccess: () => {}, onerror: () => {} };
    later(() => {
      if (chance.happens(line.keyFaults)) return made.onerror();
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

/** A document whose frames run the page of the device's key. */
const framesOf = (common: object, send: Browser['send'], later: parts.Later, happens: Happens) => {
  const hears = new Map<parts.Frame, Hear>();
  const load = async (frame: parts.Frame): Promise<void> => {
    const headers = { 'sec-fetch-dest': 'iframe', 'sec-fetch-mode': 'navigate' };
    const page = await send('GET', '/device-key', { origin: null, headers }).catch(() => null);
    const realm = {
      ...{ ...common, globalThis: common, location: { href: `${BASE}/device-key.js`, origin: BASE } },
      document: { documentElement: { dataset: { origins: APPLICATION } } },
      parent: { postMessage: () => later(() => happens('message', { source: frame.contentWindow })) },
      addEventListener: (_type: string, hear: Hear) => hears.set(frame, hear),
    };
    if (page?.status === 200) deviceKey(realm);
    frame.onload();
  };
  return parts.documentWithFrames(new Set(), load, (frame, data, _to, ports) =>
    later(() => hears.get(frame)?.({ data, ports, origin: APPLICATION })),
  );
};

import type { ProofRequest } from './device.ts';
import { sleep } from './host.ts';

/**
 * The key of this device, and proofs of it (RFC 9449). The key belongs to the origin of the service, so that all applications of a site share it:
 * they ask the page `/device-key` in a hidden frame. A page of the service's own origin can import this module.
 */

/** The paths of the requests for which proofs are made. */
const PATHS = [
  ...['login', 'login/code/confirm', 'login/second-factor', 'passkey', 'register', 'adopt', 'refresh-token', 'step-up'],
  // The forms of the service's own pages.
  ...['log-in', 'log-in/passkey', 'code', 'link/invitation', 'second-factor', 'second-factor/recovery', 'prove', 'app'],
  ...['second-factor/mail-code', 'second-factor/passkey', 'step-up/code', 'step-up/recovery', 'step-up/passkey'],
].map((path) => `/auth/${path}`);
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const STORE = 'keys';
const NAME = 'device';
/** Milliseconds before each new attempt to read the store: browsers may refuse it for a moment, because of a full disk or a process that ended. */
const PAUSES = [100, 300];

const resultOf = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

const openDatabase = (): Promise<IDBDatabase> => {
  const request = indexedDB.open('tandem-device');
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return resultOf(request);
};

/** Reads the key, or makes one. If two tabs make a key at the same time, one of them stores it, and both use the stored one. */
const readKey = async (create: boolean): Promise<CryptoKeyPair | undefined> => {
  // The database is closed below: an open one may keep the page out of the back/forward cache.
  const database = await openDatabase();
  const read = () => resultOf<CryptoKeyPair | undefined>(database.transaction(STORE).objectStore(STORE).get(NAME));
  try {
    const found = await read();
    if (found || !create) return found;
    const newKey = await crypto.subtle.generateKey(ALGORITHM, false, ['sign']);
    const store = database.transaction(STORE, 'readwrite', { durability: 'strict' }).objectStore(STORE);
    await resultOf(store.add(newKey, NAME)).catch(() => undefined);
    return await read();
  } finally {
    database.close();
  }
};

/** @throws the error of the browser if there is a store that cannot be read: it may contain a key */
const storedKey = async (create: boolean): Promise<CryptoKeyPair | undefined> => {
  // A page without TLS, for example, lacks these interfaces. Then there never was a key.
  if (!globalThis.indexedDB || !crypto.subtle) return undefined;
  for (const pause of PAUSES)
    try {
      return await readKey(create);
    } catch {
      await sleep(pause);
    }
  return readKey(create);
};

/** The origins whose requests the page `/device-key` answers with a proof. */
const origins = document.documentElement.dataset.origins?.split(' ');
/**
 * WebKit gives the frame a separate storage in each application, and another one to the pages of the service. With several applications, one session
 * would need several keys, so a log-in makes none then. The first origin is the service's own.
 */
const isShared = !(navigator.vendor.startsWith('Apple') && (!origins || origins[2]));

/** Milliseconds by which the clock of the service is ahead. The page reads it itself: an application that stated the time could get proofs for later. */
let clockOffset = 0;
const readClock = async (): Promise<void> => {
  const response = await fetch(new URL('./auth/session', import.meta.url), { cache: 'no-store' });
  clockOffset = Date.parse((await response.json()).timestamp) - Date.now() || 0;
};

/** The key that was read last, so that a page with hundreds of requests at once need not read the store for each. */
let lastKey: CryptoKeyPair | undefined;

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: ArrayBuffer): string => String.fromCharCode(...new Uint8Array(bytes));
const encoded = (bytes: string): string => btoa(bytes).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');

/**
 * @returns a proof for the request; `undefined` if there is no key, or no proof is made for such a request
 * @throws if there may be a key that cannot be used now
 */
export const prove = async ({ path, create, again, use }: ProofRequest): Promise<string | undefined> => {
  const mayProve = use ? !create : PATHS.includes(path) && (isShared || !create);
  if (!mayProve) return undefined;
  // After a refused proof, the stored key may be another one.
  const key = (use && !again && lastKey) || (await storedKey(create));
  lastKey = key;
  if (!key) return undefined;
  if (again) await readClock().catch(() => undefined);
  const { x, y } = await crypto.subtle.exportKey('jwk', key.publicKey);
  const header = { typ: 'dpop+jwt', alg: 'ES256', jwk: { kty: 'EC', crv: 'P-256', x, y } };
  const claims = {
    htm: use?.method ?? 'POST',
    htu: use?.url.replace(/[?#].*/, '') ?? new URL(`.${path}`, import.meta.url).href,
    iat: Math.floor((Date.now() + clockOffset) / 1000),
    jti: crypto.randomUUID(),
    // `ath` limits the proof to requests with this token: a renewal needs a proof without `ath`.
    ath: use && encoded(textOf(await crypto.subtle.digest('SHA-256', bytesOf(use.accessToken)))),
  };
  const signed = [header, claims].map((part) => encoded(JSON.stringify(part))).join('.');
  const signature = await crypto.subtle.sign(ALGORITHM, key.privateKey, bytesOf(signed));
  return `${signed}.${encoded(textOf(signature))}`;
};

if (origins) {
  addEventListener('message', async ({ origin, data, ports: [port] }) => {
    const isAllowed = origins.includes(origin === location.origin ? 'self' : origin);
    // `false`: there may be a key that cannot be read. Older clients take this for no key.
    port?.postMessage(isAllowed ? await prove(data).catch(() => false) : undefined);
  });
  // This tells the application that the page has loaded, and not an error page of the browser.
  parent.postMessage('ready', '*');
}

import type { ProofRequest } from './device.ts';
import { sleep } from './host.ts';

/**
 * The key of this device, and proofs of it (RFC 9449). The key belongs to the origin of the service, so that all applications of a site have
 * the same one: they ask the page `/device-key` in a hidden frame. A page of the service's own origin can import this module.
 */

/** The only requests that proofs are for. */
const PATHS = [
  ...['login', 'login/code/confirm', 'login/second-factor', 'passkey', 'register', 'adopt', 'refresh-token', 'step-up'],
  // The forms of the service's own pages.
  ...['log-in', 'log-in/passkey', 'code', 'link/invitation', 'second-factor', 'second-factor/recovery', 'prove', 'app'],
  ...['second-factor/mail-code', 'second-factor/passkey', 'step-up/code', 'step-up/recovery', 'step-up/passkey'],
].map((path) => `/auth/${path}`);
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const STORE = 'keys';
const NAME = 'device';
/** Milliseconds until the store is read again that could not be read. Browsers refuse it for a moment: a full disk, a process that ended. */
const PAUSES = [100, 300];

const done = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

const openDatabase = (): Promise<IDBDatabase> => {
  const request = indexedDB.open('tandem-device');
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return done(request);
};

/** Of two tabs that make a key at once, one stores it, and both use that. */
const keyOf = async (create: boolean): Promise<CryptoKeyPair | undefined> => {
  // Closed again, since an open one may keep the page out of the back/forward cache.
  const database = await openDatabase();
  const read = () => done<CryptoKeyPair | undefined>(database.transaction(STORE).objectStore(STORE).get(NAME));
  try {
    const found = await read();
    if (found || !create) return found;
    const made = await crypto.subtle.generateKey(ALGORITHM, false, ['sign']);
    const written = database.transaction(STORE, 'readwrite', { durability: 'strict' }).objectStore(STORE);
    await done(written.add(made, NAME)).catch(() => undefined);
    return await read();
  } finally {
    database.close();
  }
};

/** @throws what the browser says of a store that it has, and that cannot be read: there may be a key in it */
const storedKey = async (create: boolean): Promise<CryptoKeyPair | undefined> => {
  // Not without TLS, for example. Then there never was one.
  if (!globalThis.indexedDB || !crypto.subtle) return undefined;
  for (const pause of PAUSES)
    try {
      return await keyOf(create);
    } catch {
      await sleep(pause);
    }
  return keyOf(create);
};

/** The origins of those whom the page `/device-key` answers. Others hear that there is no proof. */
const origins = document.documentElement.dataset.origins?.split(' ');
/**
 * WebKit gives the frame a storage of its own in each application, and the service's own pages have another one. So several of them would have
 * several keys of one session: a log-in has none then. The first origin is the service's own.
 */
const isShared = !(navigator.vendor.startsWith('Apple') && (!origins || origins[2]));

/** Milliseconds by which the clock of the service is ahead. An application that chose the time could have proofs signed for later. */
let ahead = 0;
const readClock = async (): Promise<void> => {
  const response = await fetch(new URL('./auth/session', import.meta.url), { cache: 'no-store' });
  ahead = Date.parse((await response.json()).timestamp) - Date.now() || 0;
};

/** The key that was read last: a page that sends hundreds of requests at once cannot wait until the store is read for each. */
let last: CryptoKeyPair | undefined;

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: ArrayBuffer): string => String.fromCharCode(...new Uint8Array(bytes));
const encoded = (bytes: string): string => btoa(bytes).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');

/**
 * @returns a proof for the request; nothing if there is no key, or the request is none of those
 * @throws if there may be a key that cannot be used now
 */
export const prove = async ({ path, create, again, use }: ProofRequest): Promise<string | undefined> => {
  const mayProve = use ? !create : PATHS.includes(path) && (isShared || !create);
  if (!mayProve) return undefined;
  // After a refusal it may be another one.
  const key = (use && !again && last) || (await storedKey(create));
  last = key;
  if (!key) return undefined;
  if (again) await readClock().catch(() => undefined);
  const { x, y } = await crypto.subtle.exportKey('jwk', key.publicKey);
  const header = { typ: 'dpop+jwt', alg: 'ES256', jwk: { kty: 'EC', crv: 'P-256', x, y } };
  const claims = {
    htm: use?.method ?? 'POST',
    htu: use?.url.replace(/[?#].*/, '') ?? new URL(`.${path}`, import.meta.url).href,
    iat: Math.floor((Date.now() + ahead) / 1000),
    jti: crypto.randomUUID(),
    // No other request than one with this token can have the proof: a renewal needs one without `ath`.
    ath: use && encoded(textOf(await crypto.subtle.digest('SHA-256', bytesOf(use.accessToken)))),
  };
  const signed = [header, claims].map((part) => encoded(JSON.stringify(part))).join('.');
  const signature = await crypto.subtle.sign(ALGORITHM, key.privateKey, bytesOf(signed));
  return `${signed}.${encoded(textOf(signature))}`;
};

if (origins) {
  addEventListener('message', async ({ origin, data, ports: [port] }) => {
    const isAllowed = origins.includes(origin === location.origin ? 'self' : origin);
    // `false`: there may be a key. An older client takes it for none.
    port?.postMessage(isAllowed ? await prove(data).catch(() => false) : undefined);
  });
  // Who asks knows from it that this page is there, and no error page of the browser.
  parent.postMessage('ready', '*');
}

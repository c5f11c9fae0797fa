import type { ProofRequest } from './device.ts';
import { sleep } from './host.ts';

/**
 * The key of this device, and proofs of it (RFC 9449). The key belongs to the origin of the service, so that the applications of a site share it:
 * they ask the page `/device-key` in a hidden frame. A page of the service's own origin can import this module.
 */

/** The paths of the service for whose requests proofs are made, besides the requests with an access token (`use`). */
const PATHS = [
  ...['login', 'login/code/confirm', 'login/second-factor', 'passkey', 'register', 'adopt', 'refresh-token', 'step-up'],
  // The forms of the service's own pages.
  ...['log-in', 'log-in/passkey', 'code', 'link/invitation', 'second-factor', 'second-factor/recovery', 'prove', 'app'],
  ...['second-factor/mail-code', 'second-factor/passkey', 'step-up/code', 'step-up/recovery', 'step-up/passkey'],
].map((path) => `/auth/${path}`);
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const STORE = 'keys';
const NAME = 'device';
/** Milliseconds before each new attempt to read the store. Browsers may refuse an attempt, for example while the disk is full. */
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

/** Reads the key, or makes one. If two tabs make a key at the same time, both use the key that was stored first. */
const readKey = async (create: boolean): Promise<CryptoKeyPair | undefined> => {
  // The database is closed below, since an open database may keep the page out of the back/forward cache.
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

/** @throws the error of the browser if the store cannot be read: there may be a key */
const storedKey = async (create: boolean): Promise<CryptoKeyPair | undefined> => {
  // A page without these interfaces, such as one that is no secure context, never has a key.
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
 * Whether a key may be made. WebKit gives the frame a separate storage in each application, and the pages of the service another one. With these or
 * several applications, one session would need several keys. The first one of `origins` is that of the service.
 */
const mayMakeKey = !(navigator.vendor.startsWith('Apple') && (!origins || origins[2]));

/** Milliseconds by which the clock of the service is ahead. This page reads that clock: an application that states the time could get proofs for later. */
let clockOffset = 0;
const readClock = async (): Promise<void> => {
  const response = await fetch(new URL('./auth/session', import.meta.url), { cache: 'no-store' });
  clockOffset = Date.parse((await response.json()).timestamp) - Date.now() || 0;
};

/** The key that was read last, so that a page with hundreds of requests at once need not read the store for each. */
let lastKey: CryptoKeyPair | undefined;

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: ArrayBuffer): string => String.fromCharCode(...new Uint8Array(bytes));
const toBase64url = (bytes: string): string => btoa(bytes).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');

/** @returns a proof; `undefined` if there is no key, or the request gets no proof. @throws if there may be a key that cannot be read now */
export const prove = async ({ path, create, again, use }: ProofRequest): Promise<string | undefined> => {
  const mayProve = use ? !create : PATHS.includes(path) && (mayMakeKey || !create);
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
    ath: use && toBase64url(textOf(await crypto.subtle.digest('SHA-256', bytesOf(use.accessToken)))),
  };
  const signingInput = [header, claims].map((part) => toBase64url(JSON.stringify(part))).join('.');
  const signature = await crypto.subtle.sign(ALGORITHM, key.privateKey, bytesOf(signingInput));
  return `${signingInput}.${toBase64url(textOf(signature))}`;
};

if (origins) {
  addEventListener('message', async ({ origin, data, ports: [port] }) => {
    const isAllowed = origins.includes(origin === location.origin ? 'self' : origin);
    // `false`: there may be a key that cannot be read. Older clients take `false` for `undefined`: no key.
    port?.postMessage(isAllowed ? await prove(data).catch(() => false) : undefined);
  });
  // Tells the application that this page has loaded. An error page of the browser would not tell it.
  parent.postMessage('ready', '*');
}

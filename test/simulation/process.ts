import { createHook } from 'node:async_hooks';
import crypto, { KeyObject } from 'node:crypto';
import files from 'node:fs';
import promisedFiles from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import promisedTimers from 'node:timers/promises';
import { ecdsa } from '../support/forgeries/forge.ts';
import { beginnings, type Chance, type Entry, kernel, START } from './kernel.ts';

/**
 * Imported before anything of the service: gives the whole process the time and the chance of the kernel, and carries out at once what would
 * take real time elsewhere (files, WebCrypto). What waits for the machine all the same is found in `realWaits`: it would make a run depend
 * on how busy the machine is.
 */

/** Where real waits came from in this world. */
export const realWaits = new Set<string>();
const begun = new Map<number, Error>();
beginnings.push(() => {
  for (const each of [realWaits, begun]) each.clear();
  keeping.now = null;
});
createHook({
  trackPromises: false,
  /** Node's own resources have names in capitals, and of these the ends of streams wait for nothing real. What is done at once calls nobody back. */
  init(id, type) {
    if (/^(?!STREAM_)[A-Z_]+$|^Timeout$/.test(type)) begun.set(id, new Error(type));
  },
  before(id) {
    if (begun.has(id)) realWaits.add(String(begun.get(id)?.stack));
  },
  destroy: (id) => void begun.delete(id),
}).enable();

type Kept = { readonly file: string; readonly growth: () => number };
/** Maps and sets that the service makes while it is loaded, and those that an instance makes while it is composed: it keeps them. */
export const keptByModules: Kept[] = [];
export const keeping = { now: keptByModules as Kept[] | null };
for (const name of ['Map', 'Set'] as const) {
  const construct = (target: MapConstructor | SetConstructor, given: unknown[]) => {
    const made = Reflect.construct(target, given);
    const { size } = made;
    const [, file] = (keeping.now && /\/src\/((?:adapters|application)\/[^:]*)/.exec(`${new Error().stack}`)) || [];
    if (file) keeping.now?.push({ file, growth: () => made.size - size });
    return made;
  };
  Object.assign(globalThis, { [name]: new Proxy(globalThis[name], { construct }) });
}

class SimulatedDate extends Date {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [kernel.now()] : given) as [number]));
  }
  static override now = kernel.now;
}

type Call = (...given: unknown[]) => void;
const timerOf = (call: () => void, delay?: unknown, repeats = false) => {
  const timer = { entry: undefined as Entry | undefined, unref: (): object => timer };
  const start = (): void => {
    timer.entry = kernel.after(Math.max(1, Number(delay) || 1), () => {
      if (repeats) start();
      call();
    });
  };
  start();
  return timer;
};
const clear = (timer?: { readonly entry?: Entry } | null): void => {
  if (timer?.entry) timer.entry.call = null;
};
export const simulatedTimers = {
  setTimeout: (call: Call, delay?: unknown, ...given: unknown[]) => timerOf(() => call(...given), delay),
  setInterval: (call: Call, delay?: unknown, ...given: unknown[]) => timerOf(() => call(...given), delay, true),
  setImmediate: (call: Call, ...given: unknown[]) => timerOf(() => call(...given)),
  ...{ clearTimeout: clear, clearInterval: clear, clearImmediate: clear },
};
const pause = (delay?: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
  new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason);
    if (signal?.aborted) abort();
    else timerOf(() => resolve(value), delay);
    signal?.addEventListener('abort', abort, { once: true });
  });

/** Stores of random bytes outlive a world: one that is filled again must not take from the chance of the next world. */
const stores = new WeakMap<object, Chance>();
const fill = <View extends NodeJS.ArrayBufferView>(view: View): View => {
  const { buffer, byteOffset, byteLength } = view;
  const chance = stores.get(view) ?? kernel.chance.fork();
  stores.set(view, chance);
  chance.bytes(byteLength).copy(new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength));
  return view;
};
/** Keys stay as Node has them. Jose makes its own of these. */
const subtle = {
  async digest(algorithm: string, data: Uint8Array) {
    return new Uint8Array(crypto.createHash(algorithm.replace('-', '')).update(data).digest()).buffer;
  },
  generateKey: async () => crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  exportKey: async (_format: string, key: KeyObject) => key.export({ format: 'jwk' }),
  importKey: async (_format: string, key: crypto.webcrypto.JsonWebKey) =>
    crypto.createPublicKey({ key, format: 'jwk' }),
  sign: async (_algorithm: unknown, key: KeyObject, data: Uint8Array) =>
    new Uint8Array(ecdsa(key)(Buffer.from(data))).buffer,
  async verify(_algorithm: unknown, given: KeyObject | CryptoKey, signature: Uint8Array, data: Uint8Array) {
    const key = 'algorithm' in given ? KeyObject.from(given) : given;
    return crypto.verify('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, signature);
  },
};

const define = (target: object, members: object): void => {
  for (const [name, value] of Object.entries(members))
    Object.defineProperty(target, name, { value, configurable: true });
};
Object.assign(globalThis, { Date: SimulatedDate, ...simulatedTimers });
Object.assign(timers, simulatedTimers);
Object.assign(promisedTimers, { setTimeout: pause, setImmediate: () => pause(1) });
define(performance, { now: () => kernel.time - START, timeOrigin: START });
Math.random = () => kernel.chance.next();
Object.assign(crypto, { randomBytes: (size: number) => kernel.chance.bytes(size), randomFillSync: fill });
define(globalThis.crypto, { getRandomValues: fill, randomUUID: () => kernel.chance.id() });
define(globalThis.crypto.subtle, subtle);
for (const name of ['readFile', 'readdir', 'stat', 'lstat', 'access', 'realpath', 'mkdir', 'writeFile'] as const)
  Object.assign(promisedFiles, { [name]: async (...given: []) => (files[`${name}Sync`] as Call)(...given) });
syncBuiltinESMExports();

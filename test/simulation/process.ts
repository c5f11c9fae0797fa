import { createHook } from 'node:async_hooks';
import crypto, { KeyObject } from 'node:crypto';
import files from 'node:fs';
import promisedFiles from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import promisedTimers from 'node:timers/promises';
import { ecdsa } from '../support/forgeries/forge.ts';
import { type Chance, kernel, perWorld, START } from './kernel.ts';

/**
 * Imported before any module of the service: gives the whole process the time and the chance of the kernel, and executes operations synchronously that
 * would otherwise take real time (files, WebCrypto). Any remaining wait for the machine would make a run depend on how busy the machine is.
 */

type Kept = { readonly file: string; readonly growth: () => number };
/** The maps and sets that modules of the service make while they are loaded. */
export const keptByModules: Kept[] = [];
export const observed = perWorld(() => ({
  /** `begun`: where each asynchronous resource of Node.js was made; `waits`: those of them whose callbacks have run. */
  begun: new Map<number, Error>(),
  waits: new Set<string>(),
  /** The maps and sets that an instance makes while it is composed; `null` at other times. */
  kept: null as Kept[] | null,
}));
observed.kept = keptByModules;
createHook({
  trackPromises: false,
  /** Resources of Node.js have types in capital letters. Those of streams do not wait for the machine. */
  init(id, type) {
    if (/^(?!STREAM_)[A-Z_]+$|^Timeout$/.test(type)) observed.begun.set(id, new Error(type));
  },
  before: (id) => void (observed.begun.has(id) && observed.waits.add(`${observed.begun.get(id)?.stack}`)),
}).enable();

for (const name of ['Map', 'Set'] as const) {
  const construct = (target: MapConstructor | SetConstructor, given: unknown[]) => {
    const made = Reflect.construct(target, given);
    const { size } = made;
    const [, file] = (observed.kept && /\/src\/((?:adapters|application)\/[^:]*)/.exec(`${new Error().stack}`)) || [];
    if (file) observed.kept?.push({ file, growth: () => made.size - size });
    return made;
  };
  Object.assign(globalThis, { [name]: new Proxy(globalThis[name], { construct }) });
}

type Call = (...given: unknown[]) => void;
const timerOf = (call: () => void, delay: unknown, repeats = false) => {
  const milliseconds = Math.max(1, Number(delay) || 1);
  const timer = kernel.after(milliseconds, call, repeats ? milliseconds : 0);
  return Object.assign(timer, { unref: () => timer });
};
const clear = (timer?: object | null) => void (timer && Object.assign(timer, { call: null }));
const setTimeout = (call: Call, delay?: unknown, ...given: unknown[]) => timerOf(() => call(...given), delay);
const simulatedTimers = {
  ...{ setTimeout, clearTimeout: clear, clearInterval: clear, clearImmediate: clear },
  setInterval: (call: Call, delay?: unknown, ...given: unknown[]) => timerOf(() => call(...given), delay, true),
  setImmediate: (call: Call, ...given: unknown[]) => timerOf(() => call(...given), 1),
};
const pause = (delay?: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
  new Promise((resolve, reject) => {
    const abort = () => reject(signal?.reason);
    setTimeout(signal?.aborted ? abort : resolve, delay, value);
    signal?.addEventListener('abort', abort);
  });

/** The chance for each buffer of random bytes. Such a buffer outlives a world, so filling it again must not use the chance of the next world. */
const chances = new WeakMap<object, Chance>();
const fill = <View extends NodeJS.ArrayBufferView>(view: View): View => {
  const chance = chances.get(view) ?? kernel.chance.fork();
  chances.set(view, chance);
  chance.bytes(view.byteLength).copy(new Uint8Array(view.buffer as ArrayBuffer, view.byteOffset, view.byteLength));
  return view;
};
/** The keys of this WebCrypto are KeyObjects of Node.js. jose makes CryptoKeys of its own from them. */
const bytesOf = (buffer: Buffer) => new Uint8Array(buffer).buffer;
const subtle = {
  digest: async (name: string, data: Uint8Array) => bytesOf(crypto.hash(name.replace('-', ''), data, 'buffer')),
  generateKey: async () => crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  exportKey: async (_format: string, key: KeyObject) => key.export({ format: 'jwk' }),
  importKey: async (_format: string, key: crypto.webcrypto.JsonWebKey) =>
    crypto.createPublicKey({ key, format: 'jwk' }),
  sign: async (_algorithm: unknown, key: KeyObject, data: Uint8Array) => bytesOf(ecdsa(key)(Buffer.from(data))),
  async verify(_algorithm: unknown, given: KeyObject | CryptoKey, signature: Uint8Array, data: Uint8Array) {
    const key = 'algorithm' in given ? KeyObject.from(given) : given;
    return crypto.verify('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, signature);
  },
};

const define = (target: object, members: object): void => {
  for (const [name, value] of Object.entries(members))
    Object.defineProperty(target, name, { value, configurable: true });
};
Date.now = kernel.now;
const dateOf = (date: DateConstructor, given: unknown[]) =>
  new date(...((given.length ? given : [Date.now()]) as [number]));
Object.assign(globalThis, { Date: new Proxy(Date, { construct: dateOf }), ...simulatedTimers });
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

import { createHook } from 'node:async_hooks';
import crypto from 'node:crypto';
import files from 'node:fs';
import promisedFiles from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import promisedTimers from 'node:timers/promises';
import type { Chance } from './chance.ts';
import { type Entry, kernel, START } from './kernel.ts';

/**
 * Imported before anything of the service: gives the whole process the time and the chance of the kernel, and carries out at once what would
 * take real time elsewhere (files, WebCrypto). What waits for the machine all the same is found in `realWaits`: it would make a run depend
 * on how busy the machine is.
 */

export const realTime = performance.now.bind(performance);

/** Where real waits came from, since the last look. */ export const realWaits = new Set<string>();
const begun = new Map<number, Error>();
/** Node's own resources have names in capitals; those of packages do not. What is done at once begins, and calls nobody back. */
createHook({
  trackPromises: false,
  init(id, type) {
    if (/^[A-Z_]+$|^Timeout$/.test(type)) begun.set(id, new Error(type));
  },
  before(id) {
    const origin = begun.get(id);
    if (origin) realWaits.add(String(origin.stack));
  },
  destroy: (id) => void begun.delete(id),
}).enable();

const RealDate = Date;
class SimulatedDate extends RealDate {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [kernel.now()] : given) as [number]));
  }
  static override now(): number {
    return kernel.now();
  }
}

class Timer {
  #entry: Entry | undefined;
  readonly #delay: number;
  readonly #call: () => void;
  readonly #repeats: boolean;
  constructor(call: () => void, delay: unknown, repeats: boolean) {
    this.#delay = Math.max(1, Number(delay) || 1);
    [this.#call, this.#repeats] = [call, repeats];
    this.refresh();
  }
  refresh(): this {
    this.close();
    this.#entry = kernel.after(this.#delay, () => {
      if (this.#repeats) this.refresh();
      this.#call();
    });
    return this;
  }
  close(): void {
    if (this.#entry) this.#entry.call = null;
  }
  ref = (): this => this;
  unref = (): this => this;
  hasRef = (): boolean => true;
}
type Call = (...given: unknown[]) => void;
const clear = (timer: unknown): void => {
  if (timer instanceof Timer) timer.close();
};
export const simulatedTimers = {
  setTimeout: (call: Call, delay?: unknown, ...given: unknown[]) => new Timer(() => call(...given), delay, false),
  setInterval: (call: Call, delay?: unknown, ...given: unknown[]) => new Timer(() => call(...given), delay, true),
  setImmediate: (call: Call, ...given: unknown[]) => new Timer(() => call(...given), 1, false),
  clearTimeout: clear,
  clearInterval: clear,
  clearImmediate: clear,
};

const pause = (delay: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const timer = new Timer(() => resolve(value), delay, false);
    const abort = (): void => {
      timer.close();
      reject(new DOMException('The operation was aborted', 'AbortError'));
    };
    if (signal?.aborted) abort();
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
const digest = async (algorithm: string | { name: string }, data: Uint8Array): Promise<ArrayBuffer> => {
  const name = (typeof algorithm === 'string' ? algorithm : algorithm.name).replace('-', '').toLowerCase();
  const { buffer, byteOffset, byteLength } = crypto.createHash(name).update(new Uint8Array(data)).digest();
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
};

const define = (target: object, members: object): void => {
  for (const [name, value] of Object.entries(members))
    Object.defineProperty(target, name, { value, configurable: true });
};
Object.assign(globalThis, { Date: SimulatedDate, ...simulatedTimers });
Object.assign(timers, simulatedTimers);
Object.assign(promisedTimers, {
  setTimeout: pause,
  setImmediate: (value?: unknown, options?: object) => pause(1, value, options),
});
define(performance, { now: () => kernel.time - START, timeOrigin: START });
Math.random = () => kernel.chance.next();
Object.assign(crypto, {
  randomBytes: (size: number) => kernel.chance.bytes(size),
  randomFillSync: fill,
});
define(globalThis.crypto, { getRandomValues: fill });
define(globalThis.crypto.subtle, { digest });
for (const name of ['readFile', 'readdir', 'stat', 'lstat', 'access', 'realpath', 'mkdir', 'writeFile'] as const)
  Object.assign(promisedFiles, {
    [name]: async (...given: unknown[]) => (files[`${name}Sync`] as (...given: unknown[]) => unknown)(...given),
  });
syncBuiltinESMExports();

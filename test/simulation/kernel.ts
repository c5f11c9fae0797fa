import { RULES, type Rule } from './rules.ts';

/** The time, the chance and the queue of events of the simulation, and its trace. There is one world at a time. */

export const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000] as const;
export const START = Date.UTC(2027, 0, 4);

/** Random numbers that a seed determines, by splitmix32. */
export class Chance {
  #state: number;
  constructor(seed: number) {
    this.#state = seed;
  }
  /** A number from 0, less than 1. */
  next = (): number => {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    const once = Math.imul(this.#state ^ (this.#state >>> 16), 0x21f0aaad);
    const twice = Math.imul(once ^ (once >>> 15), 0x735a2d97);
    return ((twice ^ (twice >>> 15)) >>> 0) / 2 ** 32;
  };
  below = (bound: number): number => Math.floor(this.next() * bound);
  between = (low: number, high: number): number => low + this.next() * (high - low);
  /** A number between, with an evenly distributed logarithm: milliseconds are as frequent as days. */
  spread = (low: number, high: number): number => low * (Math.max(high, low) / low) ** this.next();
  happens = (probability: number): boolean => this.next() < probability;
  pick = <Each>(all: readonly Each[]): Each => all[this.below(all.length)] as Each;
  bytes = (size: number): Buffer => Buffer.from(Array.from({ length: size }, () => this.below(256)));
  id = (): string => this.bytes(16).toString('hex');
  /** Another generator. Its numbers do not depend on how often this one is called afterwards. */
  fork = (): Chance => new Chance(this.below(2 ** 32));
}

const states: ((chance: Chance) => void)[] = [];
/** State that each world makes anew. */
export const perWorld = <State extends object>(make: (chance: Chance) => State): State => {
  const state = make(new Chance(0));
  states.push((chance) => {
    if (Array.isArray(state)) state.length = 0;
    Object.assign(state, make(chance));
  });
  return state;
};

const realTurn = setImmediate;
/** Resolves after all microtasks. */
const microtasksDone = () => new Promise<void>((resolve) => realTurn(resolve));

/** A timer: `call` runs at the time `at`, and if `every` is above 0, again after each `every` milliseconds. */
export type Entry = { at: number; call: (() => void) | null; readonly every: number };
/** In descending order of time, so that the next timer is the last entry. Of timers for the same time, the one that was added first runs first. */
const entries: Entry[] = [];
const add = (entry: Entry) => void entries.splice(entries.findLastIndex(({ at }) => at > entry.at) + 1, 0, entry);

export const kernel = {
  ...{ seed: 0, time: START, events: 0, isStopped: false },
  /** The chance of the service, for ids, secrets and `Math.random`. */
  chance: new Chance(0),
  now: (): number => Math.floor(kernel.time),
  /** Begins a world. Before, callbacks of the former world run to their end, since they may set timers. */
  async begin(seed: number): Promise<Chance> {
    await microtasksDone();
    entries.length = 0;
    Object.assign(kernel, { seed, time: START, events: 0, isStopped: false, chance: new Chance(seed ^ 0x5eed) });
    const chance = new Chance(seed);
    for (const renew of states) renew(chance.fork());
    return chance;
  },
  after(milliseconds: number, call: () => void, every = 0): Entry {
    const entry = { at: kernel.time + Math.max(0, milliseconds), call, every };
    add(entry);
    return entry;
  },
  sleep: (milliseconds: number) => new Promise<void>((resolve) => void kernel.after(milliseconds, resolve)),
  /** Runs the due timers one at a time. Before the next one, all microtasks of the former one have run. */
  async run(milliseconds: number): Promise<void> {
    const end = kernel.time + milliseconds;
    for (;;) {
      await microtasksDone();
      const next = entries.at(-1);
      if (kernel.isStopped || next === undefined || next.at > end) break;
      entries.pop();
      if (next.call === null) continue;
      kernel.time = Math.max(kernel.time, next.at);
      kernel.events += 1;
      next.at = kernel.time + next.every;
      if (next.every > 0) add(next);
      next.call();
    }
    kernel.time = Math.max(kernel.time, end);
  },
};

/** The trace of a world, and its first violation. */
export const story = perWorld(() => ({
  /** The rules that were judged at least once without an excuse. */
  judged: new Set<Rule>(),
  violation: undefined as { readonly rule: Rule; readonly text: string } | undefined,
  /** The hash of all lines of the trace, by which two runs of a seed are compared. */
  hash: 0,
  write: undefined as ((line: string) => void) | undefined,
}));

export const trace = (text: string): void => {
  for (const byte of Buffer.from(text)) story.hash = (Math.imul(story.hash, 31) + byte) >>> 0;
  story.write?.(`${new Date(kernel.time).toISOString()}  ${text}`);
};

/** @param excuse a documented reason why the rule need not hold */
export const expect = (rule: Rule, holds: boolean, text: () => string = String, excuse: string | false = false) => {
  if (!excuse) story.judged.add(rule);
  if (holds) return;
  trace(`${excuse || 'VIOLATION'}: ${rule}: ${text()}`);
  if (excuse) return;
  story.violation ??= { rule, text: `after ${kernel.events} events: ${rule} (${RULES[rule]}): ${text()}` };
  kernel.isStopped = true;
};
/** Waits for a promise; it is a violation if that takes longer than `limit` milliseconds. Never rejects. @returns the result, or the error */
export const within = async <Result>(what: string, work: Promise<Result>, limit = 4 * MINUTE) => {
  const isInTime = (holds: boolean) => expect('nothing waits for ever', holds, () => `${what}: ${limit} ms`);
  const timer = kernel.after(limit, () => isInTime(false));
  type Settled = { readonly value?: Result; readonly reason?: { readonly code?: string } };
  const [{ value: result, reason: error }] = (await Promise.allSettled([work])) as [Settled];
  timer.call = null;
  isInTime(true);
  return { result, error };
};
/** Waits for an action, and adds its outcome to the trace. @returns the code of the error, if it fails */
export const traced = async (what: string, work: Promise<unknown>): Promise<string | undefined> => {
  const { error } = await within(what, work);
  trace(`${what}: ${error ? error.code : 'done'}`);
  return error && String(error.code);
};

import { RULES, type Rule } from './rules.ts';

/** The time and the chance of the simulation, what happens when, and what is told of it. One world at a time. */

export const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000] as const;
export const START = Date.UTC(2027, 0, 4);

/** Chance that a seed decides, by splitmix32. */
export class Chance {
  #state: number;
  constructor(seed: number) {
    this.#state = seed;
  }
  /** From 0, less than 1. */
  next = (): number => {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    const once = Math.imul(this.#state ^ (this.#state >>> 16), 0x21f0aaad);
    const twice = Math.imul(once ^ (once >>> 15), 0x735a2d97);
    return ((twice ^ (twice >>> 15)) >>> 0) / 2 ** 32;
  };
  below = (bound: number): number => Math.floor(this.next() * bound);
  between = (low: number, high: number): number => low + this.next() * (high - low);
  /** Between, evenly in the logarithm: milliseconds as often as days. */
  spread = (low: number, high: number): number => low * (Math.max(high, low) / low) ** this.next();
  happens = (probability: number): boolean => this.next() < probability;
  pick = <Each>(all: readonly Each[]): Each => all[this.below(all.length)] as Each;
  bytes = (size: number): Buffer => Buffer.from(Array.from({ length: size }, () => this.below(256)));
  id = (): string => this.bytes(16).toString('hex');
  /** Another one, which does not depend on how often this one is asked from now on. */
  fork = (): Chance => new Chance(this.below(2 ** 32));
}

const states: ((chance: Chance) => void)[] = [];
/** What each world has anew. */
export const perWorld = <State extends object>(make: (chance: Chance) => State): State => {
  const state = make(new Chance(0));
  states.push((chance) => {
    if (Array.isArray(state)) state.length = 0;
    Object.assign(state, make(chance));
  });
  return state;
};

const realTurn = setImmediate;
/** Ends after all microtasks. */
const turn = () => new Promise<void>((resolve) => realTurn(resolve));

/** What happens later, and then perhaps again and again. */
export type Entry = { at: number; call: (() => void) | null; readonly every: number };
/** The next one is the last. Of those at the same time, the first that came is. */
const entries: Entry[] = [];
const add = (entry: Entry) => void entries.splice(entries.findLastIndex(({ at }) => at > entry.at) + 1, 0, entry);

export const kernel = {
  ...{ seed: 0, time: START, events: 0, isStopped: false },
  /** Of the service: ids, secrets, `Math.random`. */
  chance: new Chance(0),
  now: (): number => Math.floor(kernel.time),
  /** Lets the instances of the last world come to their end before, which may set timers. */
  async begin(seed: number): Promise<Chance> {
    await turn();
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
  /** What is due goes on one at a time, each until nothing more can happen without the next. */
  async run(milliseconds: number): Promise<void> {
    const end = kernel.time + milliseconds;
    for (;;) {
      await turn();
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

/** What happens in a world, until a rule is broken. */
export const story = perWorld(() => ({
  /** The rules that were looked at when there was no excuse. */
  judged: new Set<Rule>(),
  violation: undefined as { readonly rule: Rule; readonly text: string } | undefined,
  /** Of all that was told, by which two runs of a seed are compared. */
  hash: 0,
  trace: undefined as ((line: string) => void) | undefined,
}));

export const tell = (text: string): void => {
  for (const byte of Buffer.from(text)) story.hash = (Math.imul(story.hash, 31) + byte) >>> 0;
  story.trace?.(`${new Date(kernel.time).toISOString()}  ${text}`);
};

/** @param excuse a documented reason why the rule need not hold */
export const expect = (rule: Rule, holds: boolean, text: () => string = String, excuse: string | false = false) => {
  if (!excuse) story.judged.add(rule);
  if (holds) return;
  tell(`${excuse || 'VIOLATION'}: ${rule}: ${text()}`);
  if (excuse) return;
  story.violation ??= { rule, text: `after ${kernel.events} events: ${rule} (${RULES[rule]}): ${text()}` };
  kernel.isStopped = true;
};
/** Waits, and says so when it takes too long. @returns the error, too */
export const within = async <Result>(what: string, work: Promise<Result>, limit = 4 * MINUTE) => {
  const isInTime = (holds: boolean) => expect('nothing waits for ever', holds, () => `${what}: ${limit} ms`);
  const timer = kernel.after(limit, () => isInTime(false));
  type Settled = { readonly value?: Result; readonly reason?: { readonly code?: string } };
  const [{ value: result, reason: error }] = (await Promise.allSettled([work])) as [Settled];
  timer.call = null;
  isInTime(true);
  return { result, error };
};
/** Waits for what somebody does, and tells it. @returns the code of the error, if it fails */
export const tried = async (what: string, work: Promise<unknown>): Promise<string | undefined> => {
  const { error } = await within(what, work);
  tell(`${what}: ${error ? error.code : 'done'}`);
  return error && String(error.code);
};

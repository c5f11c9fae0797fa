import { type Chance, chanceOf } from './chance.ts';

/** The time of the simulation, and what happens when. One world at a time. */

export const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000] as const;
export const START = Date.UTC(2027, 0, 4);

const realTurn = setImmediate;

export type Entry = { readonly at: number; readonly order: number; call: (() => void) | null };

const isBefore = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

/** Entries by their time: a binary heap. */
const entries: Entry[] = [];
const swap = (a: number, b: number): void => {
  [entries[a], entries[b]] = [entries[b] as Entry, entries[a] as Entry];
};
const isLess = (a: number, b: number): boolean => isBefore(entries[a] as Entry, entries[b] as Entry);
const push = (entry: Entry): void => {
  let at = entries.push(entry) - 1;
  for (let up = (at - 1) >> 1; at > 0 && isLess(at, up); up = (at - 1) >> 1) {
    swap(at, up);
    at = up;
  }
};
const pop = (): void => {
  swap(0, entries.length - 1);
  entries.pop();
  for (let at = 0; ; ) {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    const least = right < entries.length && isLess(right, left) ? right : left;
    if (least >= entries.length || !isLess(least, at)) return;
    swap(at, least);
    at = least;
  }
};

let hash = 0;

export const kernel = {
  time: START,
  events: 0,
  isStopped: false,
  /** Of the service: ids, secrets, `Math.random`. */
  chance: chanceOf(0) as Chance,
  now: (): number => Math.floor(kernel.time),
  begin(seed: number): void {
    [entries.length, hash] = [0, 0];
    Object.assign(kernel, { time: START, events: 0, isStopped: false, chance: chanceOf(seed ^ 0x5eed) });
  },
  after(milliseconds: number, call: () => void): Entry {
    kernel.scheduled += 1;
    const entry = { at: kernel.time + Math.max(0, milliseconds), order: kernel.scheduled, call };
    push(entry);
    return entry;
  },
  scheduled: 0,
  sleep: (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      kernel.after(milliseconds, resolve);
    }),
  /** Mixes a text into the hash of the run, by which two runs of a seed are compared. */
  note(text: string): void {
    for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  },
  hash: (): string => (hash >>> 0).toString(16).padStart(8, '0'),
  /** What is due goes on one at a time, each until nothing more can happen without the next: a turn ends after all microtasks. */
  async run(until: number): Promise<void> {
    for (;;) {
      await new Promise<void>((resolve) => realTurn(resolve));
      const [next] = entries;
      if (kernel.isStopped || next === undefined || next.at > until) break;
      pop();
      if (next.call === null) continue;
      kernel.time = Math.max(kernel.time, next.at);
      kernel.events += 1;
      next.call();
    }
    kernel.time = Math.max(kernel.time, until);
  },
};

import fc from 'fast-check';
import type { ReplayPolicy } from '../../../src/domain/token-status.ts';
import { MINUTE, SECOND } from '../application.ts';
import type { Fault } from '../rotation/program.ts';

/** What a thief sends. Cookies and bodies are numbered in the order in which they came into being, modulo their count. */
export type Attack = {
  /** The last ones by far the most often. */
  readonly cookie: number;
  /** The body of a request of the browser, with its proof, or one of the thief's. */
  readonly body: number | 'none' | 'of another key' | 'of another key and time' | 'nonsense';
};

export type Step =
  /** A tab sends the cookie that the browser has now, with a proof. */
  | { readonly type: 'send' }
  /** The browser sends a request again whose connection broke. */
  | { readonly type: 'repeat'; readonly request: number }
  | { readonly type: 'attack'; readonly attack: Attack }
  /** Requests arrive at the same time, at two instances. */
  | { readonly type: 'arrive'; readonly requests: readonly number[]; readonly instance: number; readonly fault: Fault }
  /** An answer arrives, or never will. */
  | { readonly type: 'answer'; readonly answer: number; readonly lost: boolean }
  | { readonly type: 'wait'; readonly by: number }
  /** The store is well again: what failed is reverted. */
  | { readonly type: 'settle' }
  /** The store forgets what the last steps have changed. */
  | { readonly type: 'forget'; readonly steps: number };

export type Program = {
  readonly policy: ReplayPolicy;
  /** Milliseconds by which the clock of the browser is ahead. */
  readonly skew: number;
  readonly steps: readonly Step[];
};

const POLICIES: readonly ReplayPolicy[] = [
  { raceWindow: 10 * SECOND, replayWindow: 0 },
  { raceWindow: 0, replayWindow: 0 },
  { raceWindow: 10 * SECOND, replayWindow: 10 * SECOND },
];
const SKEWS = [0, 0, 59 * SECOND, -59 * SECOND, 61 * SECOND, 60 * MINUTE, -60 * MINUTE];
/** Together less than the lifetime of a token. */
const WAITS = [1, SECOND, 10 * SECOND + 1, 30 * SECOND, 61 * SECOND, 15 * MINUTE, 180 * MINUTE];

const type = <const Type extends Step['type']>(name: Type) => fc.constant(name);
const any = fc.nat({ max: 40 });
const attack: fc.Arbitrary<Attack> = fc.record({
  cookie: any,
  body: fc.oneof(
    { arbitrary: any, weight: 3 },
    { arbitrary: fc.constantFrom('none', 'of another key', 'of another key and time', 'nonsense'), weight: 2 },
  ),
});
const fault = fc.oneof(
  { arbitrary: fc.constant<Fault>('none'), weight: 7 },
  { arbitrary: fc.constantFrom<Fault[]>('lost', 'answer lost', 'late', 'timed out'), weight: 3 },
);
const requests = fc.array(any, { minLength: 1, maxLength: 5 });

const step = (attacks: boolean): fc.Arbitrary<Step> =>
  fc.oneof(
    { arbitrary: fc.record({ type: type('send') }), weight: 6 },
    { arbitrary: fc.record({ type: type('repeat'), request: any }), weight: 1 },
    { arbitrary: fc.record({ type: type('attack'), attack }), weight: attacks ? 4 : 0 },
    { arbitrary: fc.record({ type: type('arrive'), requests, instance: fc.nat({ max: 1 }), fault }), weight: 8 },
    {
      arbitrary: fc.record({ type: type('answer'), answer: any, lost: fc.constantFrom(false, false, true) }),
      weight: 6,
    },
    { arbitrary: fc.record({ type: type('wait'), by: fc.constantFrom(...WAITS) }), weight: 3 },
    { arbitrary: fc.record({ type: type('settle') }), weight: 2 },
    { arbitrary: fc.record({ type: type('forget'), steps: fc.integer({ min: 1, max: 8 }) }), weight: 1 },
  );

export const programs = ({ maxLength, attacks }: { readonly maxLength: number; readonly attacks: boolean }) =>
  fc.record({
    policy: fc.constantFrom(...POLICIES),
    skew: fc.constantFrom(...SKEWS),
    steps: fc.array(step(attacks), { minLength: 1, maxLength, size: 'max' }),
  });

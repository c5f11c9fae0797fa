import fc from 'fast-check';
import type { ReplayPolicy } from '../../../src/domain/token-status.ts';
import { DAY, MINUTE, SECOND } from '../application.ts';

/** Milliseconds. */
export const REFRESH_LIFETIME = 7 * DAY;

/**
 * The fault of a rotation: it never arrives, its response is lost, it arrives after its caller received an error, or even after it was
 * reverted, or its caller has timed out in the meantime.
 */
export type Fault = 'none' | 'lost' | 'answer lost' | 'late' | 'too late' | 'timed out';

/** Sessions are numbered in the order of their log-ins, modulo their count. The newest token of a session has the age 0. */
export type Step =
  | { readonly type: 'log in'; readonly instance: number }
  | {
      readonly type: 'refresh';
      readonly instance: number;
      readonly session: number;
      readonly age: number;
      readonly fault: Fault;
      /** The number of concurrent requests with the token. */
      readonly times: number;
    }
  | { readonly type: 'log out'; readonly instance: number; readonly session: number; readonly age: number }
  /** The clocks advance by milliseconds. */
  | { readonly type: 'wait'; readonly by: number }
  /** Unconfirmed rotations are reverted. */
  | { readonly type: 'settle' }
  | { readonly type: 'purge' }
  /** The store forgets what the last steps have changed, as after a fail-over or a restore. It does not forget log-ins. */
  | { readonly type: 'forget'; readonly steps: number };

/** The steps of several devices of one user, one after the other, on two instances of the service with one store. */
export type Program = { readonly policy: ReplayPolicy; readonly steps: readonly Step[] };

const RACE_WINDOW = 10 * SECOND;

/** With a replay window there is one instance: a second one does not know the unconfirmed rotations of the first (ADR 0003). */
const policies: readonly { readonly policy: ReplayPolicy; readonly instances: number }[] = [
  { policy: { raceWindow: RACE_WINDOW, replayWindow: 0 }, instances: 2 },
  { policy: { raceWindow: 0, replayWindow: 0 }, instances: 2 },
  { policy: { raceWindow: RACE_WINDOW, replayWindow: 5 * SECOND }, instances: 1 },
  { policy: { raceWindow: 0, replayWindow: RACE_WINDOW }, instances: 1 },
];

const WAITS = [
  1,
  999,
  SECOND,
  5 * SECOND - 1,
  5 * SECOND,
  RACE_WINDOW,
  RACE_WINDOW + 1,
  MINUTE + 7,
  3 * DAY,
  REFRESH_LIFETIME - SECOND,
  REFRESH_LIFETIME - 1,
  REFRESH_LIFETIME,
];

const age = fc.oneof(
  { arbitrary: fc.constant(0), weight: 5 },
  { arbitrary: fc.integer({ min: 1, max: 4 }), weight: 3 },
  { arbitrary: fc.integer({ min: 5, max: 12 }), weight: 1 },
);
const session = fc.nat({ max: 3 });
const constantly = <const Value>(value: Value) => fc.constant(value);

const stepAmong = (instances: number): fc.Arbitrary<Step> => {
  const instance = fc.nat({ max: instances - 1 });
  const refresh = { type: constantly('refresh'), instance, session, age };
  const fault = fc.constantFrom<Fault[]>('lost', 'answer lost', 'late', 'too late', 'timed out');
  return fc.oneof(
    { arbitrary: fc.record({ type: constantly('log in'), instance }), weight: 2 },
    { arbitrary: fc.record({ ...refresh, fault: constantly('none'), times: constantly(1) }), weight: 9 },
    {
      arbitrary: fc.record({ ...refresh, fault: constantly('none'), times: fc.integer({ min: 2, max: 6 }) }),
      weight: 2,
    },
    { arbitrary: fc.record({ ...refresh, fault, times: constantly(1) }), weight: 4 },
    { arbitrary: fc.record({ type: constantly('log out'), instance, session, age }), weight: 1 },
    { arbitrary: fc.record({ type: constantly('wait'), by: fc.constantFrom(...WAITS) }), weight: 4 },
    { arbitrary: fc.record({ type: constantly('settle') }), weight: 3 },
    { arbitrary: fc.record({ type: constantly('purge') }), weight: 1 },
    { arbitrary: fc.record({ type: constantly('forget'), steps: fc.integer({ min: 1, max: 8 }) }), weight: 2 },
  );
};

export const programs = ({ maxLength }: { readonly maxLength: number }): fc.Arbitrary<Program> =>
  fc.constantFrom(...policies).chain(({ policy, instances }) =>
    fc.record({
      policy: fc.constant(policy),
      steps: fc
        .array(stepAmong(instances), { minLength: 1, maxLength, size: 'max' })
        .map((steps) => [{ type: 'log in' as const, instance: 0 }, ...steps]),
    }),
  );

/**
 * How often the password of one account may be guessed (ADR 0024). Times are milliseconds of one clock, whichever.
 *
 * The first failures in a row are free. From then on there are two slots, each of which lets one try through and then stays
 * shut for twice as long as the last time: one for networks that keep failing at this account, one for newcomers. So nobody
 * keeps all others out from one network, and yet there are two tries a minute at most, from however many networks.
 */

/** NIST SP 800-63B: no more than 100 failures in a row. */
export const FREE_FAILURES = 100;
export const FIRST_WAIT = 1_000;
export const LONGEST_WAIT = 60_000;
/** How long failures are remembered after the last one. */
export const MEMORY = 3_600_000;
/** Failures at the account, within the time they are remembered, that make a network a regular. */
export const REGULAR_AFTER = 3;

type Guest = 'newcomer' | 'regular';
type Slot = { readonly opensAt: number; readonly wait: number };
type Failures = { readonly failures: number; readonly lastAt: number };

/** Tries at one account since the last success. A try counts as a failure until it is known to be none. */
export type LoginThrottle = Failures & {
  /** By network; those that failed too long ago are left out at the next count, so that there are some 250 at most. */
  readonly networks: ReadonlyMap<string, Failures>;
  /** `null` while failures are free. */
  readonly slots: Readonly<Record<Guest, Slot>> | null;
};

const isRemembered = ({ lastAt }: Failures, now: number): boolean => now - lastAt < MEMORY;

/** Whether a throttle says nothing any more. */
export const isForgotten = (throttle: LoginThrottle, now: number): boolean => !isRemembered(throttle, now);

const failuresOf = (throttle: LoginThrottle, network: string, now: number): number => {
  const failed = throttle.networks.get(network);
  return failed !== undefined && isRemembered(failed, now) ? failed.failures : 0;
};

const guest = (failures: number): Guest => (failures < REGULAR_AFTER ? 'newcomer' : 'regular');

/** Milliseconds until somebody of this network may try; 0 is now. */
export const waitFor = (throttle: LoginThrottle | null, network: string, now: number): number => {
  if (throttle === null || throttle.slots === null || isForgotten(throttle, now)) return 0;
  const { opensAt, wait } = throttle.slots[guest(failuresOf(throttle, network, now))];
  // A slot that would be shut for longer than it was meant to be: the clock stepped back.
  return opensAt - now > wait ? 0 : Math.max(0, opensAt - now);
};

/** The throttle once a try was let through. */
export const counted = (throttle: LoginThrottle | null, network: string, now: number): LoginThrottle => {
  const before = throttle === null || isForgotten(throttle, now) ? UNTRIED : throttle;
  const failed = failuresOf(before, network, now);
  const failures = before.failures + 1;
  const networks = new Map([...before.networks].filter(([, each]) => isRemembered(each, now)));
  networks.set(network, { failures: failed + 1, lastAt: now });
  return { failures, lastAt: now, networks, slots: slotsAfter(before, guest(failed), now) };
};

/** The throttle as if a try that was let through had not been made. */
export const withdrawn = (throttle: LoginThrottle, network: string): LoginThrottle => {
  const networks = new Map(throttle.networks);
  const failed = networks.get(network);
  const left = Math.max(0, (failed?.failures ?? 0) - 1);
  if (failed === undefined || left === 0) networks.delete(network);
  else networks.set(network, { ...failed, failures: left });
  const failures = Math.max(0, throttle.failures - 1);
  return { ...throttle, failures, networks, slots: slotsBefore(throttle, guest(left)) };
};

const UNTRIED: LoginThrottle = { failures: 0, lastAt: 0, networks: new Map(), slots: null };

const slotsAfter = ({ failures, slots }: LoginThrottle, of: Guest, now: number): LoginThrottle['slots'] => {
  if (failures + 1 < FREE_FAILURES) return null;
  if (slots === null) {
    const first = { opensAt: now + FIRST_WAIT, wait: FIRST_WAIT };
    return { newcomer: first, regular: first };
  }
  const wait = Math.min(LONGEST_WAIT, 2 * slots[of].wait);
  return { ...slots, [of]: { opensAt: now + wait, wait } };
};

const slotsBefore = ({ failures, slots }: LoginThrottle, of: Guest): LoginThrottle['slots'] => {
  if (slots === null || failures <= FREE_FAILURES) return null;
  return { ...slots, [of]: { opensAt: 0, wait: Math.max(FIRST_WAIT, slots[of].wait / 2) } };
};

import { createHash } from 'node:crypto';
import { keyedMutex } from '../../application/login/login.ts';
import type { Clock } from '../../application/ports/clock-and-ids.ts';
import type { Attempt, LoginAttempts } from '../../application/ports/login-attempts.ts';
import {
  FAILURE_TTL,
  isOver,
  type LoginThrottle,
  type ThrottledClient,
  waitFor,
  withAttempt,
  withoutAttempt,
  withoutFailures,
} from '../../domain/login-throttle.ts';
import type { Count, Counts } from './counts.ts';

/** Returns the next throttle, or `null` to leave it as it is. */
type Change = (throttle: LoginThrottle | null, now: number) => LoginThrottle | null;

/** How often a change is tried while other instances change the same count. */
const TRIES = 100;
/** Milliseconds that a log-in waits if all of them were in vain. */
const BUSY = 1_000;

const NONE: Count = { text: '', now: 0 };

/**
 * Keeps the state of domain/login-throttle.ts as a text, and replaces it only if it is the expected one. Most accounts have no failures, and nobody
 * else logs in to them meanwhile: then an attempt begins with one call, and ends with one.
 * @param hashOf what is kept of accounts and of addresses; of these 96 bits.
 */
export const countAttempts = (counts: Pick<Counts, 'replace'>, clock: Clock, hashOf = hashed): LoginAttempts => {
  const oneAtATime = keyedMutex();
  /** What the beginning of an attempt has left. */
  const begun = new WeakMap<Attempt, Count>();
  /** @returns the count after the change, if there was any; `null` if it could not be made. */
  const update = (key: string, change: Change, expected = NONE): Promise<Count | null> => {
    const name = `tandem:throttle:${hashOf(key)}`;
    return oneAtATime(name, async () => {
      let count = expected;
      for (let tries = 0; tries < TRIES; tries += 1) {
        const { text, now } = count;
        const next = change(parsed(text), now);
        // What is expected may not be there: then the answer to the first try says what is.
        if (next === null && tries > 0) return count;
        const after = next === null ? text : isOver(next, now) ? '' : serialized(next);
        const other = await counts.replace(name, text, after, FAILURE_TTL);
        if (other === null) return { text: after, now };
        count = other;
      }
      return null;
    });
  };
  const kept = (client: ThrottledClient) => ({
    ...client,
    names: client.names.map((name) => hashOf(name).slice(0, 16)),
  });
  const settle = async (attempt: Attempt, settled: typeof withoutAttempt): Promise<void> => {
    const change: Change = (throttle) => throttle && settled(throttle, kept(attempt.client));
    await update(attempt.key, change, begun.get(attempt));
  };

  return {
    async begin(attempt) {
      const client = kept(attempt.client);
      let wait = 0;
      const change: Change = (throttle, now) => {
        wait = waitFor(throttle, client, now);
        return wait === 0 ? withAttempt(throttle, client, now) : null;
      };
      // The clock of the store matters only for those who have to wait.
      const count = await update(attempt.key, change, { text: '', now: clock.now() });
      if (count === null) return BUSY;
      if (wait === 0) begun.set(attempt, count);
      return wait;
    },
    succeed: (attempt) => settle(attempt, withoutFailures),
    withdraw: (attempt) => settle(attempt, withoutAttempt),
    async forget(key) {
      await update(key, (throttle) => throttle && { ...throttle, clients: new Map() });
    },
  };
};

/** Of constant length. Hashed, because users sometimes type their password into the account field. */
const hashed = (key: string): string => createHash('sha256').update(key).digest('base64url');

const serialized = ({ lastAt, clients, buckets }: LoginThrottle): string =>
  JSON.stringify([lastAt, [...clients], [...buckets]]);

/** A text that is none of ours counts as none: nobody may be locked out by it. */
const parsed = (text: string): LoginThrottle | null => {
  if (text === '') return null;
  try {
    const [lastAt, clients, buckets] = JSON.parse(text);
    return { lastAt, clients: new Map(clients), buckets: new Map(buckets) };
  } catch {
    return null;
  }
};

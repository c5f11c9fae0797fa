import { createHash } from 'node:crypto';
import { keyedMutex } from '../../application/login/login.ts';
import type { Clock } from '../../application/ports/clock-and-ids.ts';
import type { Attempt, LoginAttempts } from '../../application/ports/login-attempts.ts';
import {
  FAILURE_TTL,
  isObsolete,
  type LoginThrottle,
  type ThrottledClient,
  waitingTime,
  withAttempt,
  withoutAttempt,
  withoutFailures,
} from '../../domain/login-throttle.ts';
import type { Counts, StoredText } from './counts.ts';

/** Returns the changed throttle, or `null` to leave the stored one unchanged. */
type Change = (throttle: LoginThrottle | null, now: number) => LoginThrottle | null;

/** How often a change is tried while other instances change the same text. */
const MAX_TRIES = 100;
/** Milliseconds that a log-in has to wait if all tries have failed. */
const BUSY_WAIT = 1_000;

/**
 * Stores the state of domain/login-throttle.ts as a text, by compare-and-swap. If the account has no failures and no other log-in in progress, an
 * attempt makes one call of the store when it begins, and one when it succeeds or is withdrawn.
 * @param hashOf hashes the keys of attempts and the names of clients before they are stored. Of the hash of a name, 96 bits are stored.
 */
export const countAttempts = (counts: Pick<Counts, 'replace'>, clock: Clock, hashOf = hashKey): LoginAttempts => {
  const oneAtATime = keyedMutex();
  const storedAtBegin = new WeakMap<Attempt, StoredText>();
  /** @param expected the text that is probably stored. @returns the text after the change; `null` if all tries have failed */
  const update = (key: string, change: Change, expected = { text: '', now: 0 }): Promise<StoredText | null> => {
    const name = `tandem:throttle:${hashOf(key)}`;
    return oneAtATime(name, async () => {
      let stored = expected;
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const { text, now } = stored;
        const next = change(parseThrottle(text), now);
        // In the first round, `text` is only a guess, and `replace` returns the stored text if it differs.
        if (next === null && tries > 0) return stored;
        const after = next === null ? text : isObsolete(next, now) ? '' : throttleText(next);
        const other = await counts.replace(name, text, after, FAILURE_TTL);
        if (other === null) return { text: after, now };
        stored = other;
      }
      return null;
    });
  };
  const hashedClient = (client: ThrottledClient) => ({
    ...client,
    names: client.names.map((name) => hashOf(name).slice(0, 16)),
  });
  const endAttempt = async (attempt: Attempt, rule: typeof withoutAttempt): Promise<void> => {
    const change: Change = (throttle) => throttle && rule(throttle, hashedClient(attempt.client));
    await update(attempt.key, change, storedAtBegin.get(attempt));
  };

  return {
    async begin(attempt) {
      const client = hashedClient(attempt.client);
      let wait = 0;
      const change: Change = (throttle, now) => {
        wait = waitingTime(throttle, client, now);
        return wait === 0 ? withAttempt(throttle, client, now) : null;
      };
      // The clock of the service will do while no failures are stored. If some are, `replace` returns them with the time of the store, for the next round.
      const stored = await update(attempt.key, change, { text: '', now: clock.now() });
      if (stored === null) return BUSY_WAIT;
      if (wait === 0) storedAtBegin.set(attempt, stored);
      return wait;
    },
    succeed: (attempt) => endAttempt(attempt, withoutFailures),
    withdraw: (attempt) => endAttempt(attempt, withoutAttempt),
    async forget(key) {
      await update(key, (throttle) => throttle && { ...throttle, clients: new Map() });
    },
  };
};

/** Keys are hashed, since users may type their password into the field of the username. */
const hashKey = (key: string): string => createHash('sha256').update(key).digest('base64url');

const throttleText = ({ lastAt, clients, buckets }: LoginThrottle): string =>
  JSON.stringify([lastAt, [...clients], [...buckets]]);

/** A text that cannot be parsed counts as no throttle, so that no user is locked out. */
const parseThrottle = (text: string): LoginThrottle | null => {
  if (text === '') return null;
  try {
    const [lastAt, clients, buckets] = JSON.parse(text);
    return { lastAt, clients: new Map(clients), buckets: new Map(buckets) };
  } catch {
    return null;
  }
};

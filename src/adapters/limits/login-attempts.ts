import { createHash } from 'node:crypto';
import { keyedMutex } from '../../application/login/login.ts';
import type { Attempt, LoginAttempts } from '../../application/ports/login-attempts.ts';
import {
  counted,
  FAILURE_TTL,
  isOver,
  type LoginThrottle,
  succeeded,
  waitFor,
  withdrawn,
} from '../../domain/login-throttle.ts';
import type { Counts } from './counts.ts';

/** Returns the next throttle, or `null` to leave it as it is. */
type Change = (throttle: LoginThrottle | null, now: number) => LoginThrottle | null;

/** How often a change is tried while other instances change the same count. */
const TRIES = 100;
/** Milliseconds that a log-in waits if all of them were in vain. */
const BUSY = 1_000;

/** Keeps the state of domain/login-throttle.ts as a text, and replaces it only if it has not changed in between. */
export const countAttempts = (counts: Pick<Counts, 'read' | 'replace'>): LoginAttempts => {
  const oneAtATime = keyedMutex();
  /** @returns whether the change was made, if there was any. */
  const update = (key: string, change: Change): Promise<boolean> => {
    const name = `tandem:throttle:${hashed(key)}`;
    return oneAtATime(name, async () => {
      for (let tries = 0; tries < TRIES; tries += 1) {
        const { text, now } = await counts.read(name);
        const next = change(parsed(text), now);
        if (next === null) return true;
        if (await counts.replace(name, text, isOver(next, now) ? '' : serialized(next), FAILURE_TTL)) return true;
      }
      return false;
    });
  };
  const settle = async ({ key, client }: Attempt, settled: typeof withdrawn): Promise<void> => {
    await update(key, (throttle) => throttle && settled(throttle, client));
  };

  return {
    async begin({ key, client }) {
      let wait = 0;
      const isCounted = await update(key, (throttle, now) => {
        wait = waitFor(throttle, client, now);
        return wait === 0 ? counted(throttle, client, now) : null;
      });
      return isCounted ? wait : BUSY;
    },
    succeed: (attempt) => settle(attempt, succeeded),
    withdraw: (attempt) => settle(attempt, withdrawn),
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

import { createHash } from 'node:crypto';
import type { Attempt, LoginAttempts } from '../../application/ports/login-attempts.ts';
import {
  counted,
  isForgotten,
  type LoginClient,
  type LoginThrottle,
  succeeded,
  waitFor,
  withdrawn,
} from '../../domain/login-throttle.ts';

/** A key of constant length. Hashed, because users sometimes type their password into the account field. */
export const hashedKey = (key: string): string => createHash('sha256').update(key).digest('base64url');

type MemoryOptions = {
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
  /** How many keys are remembered; beyond that, those with the oldest last attempt are dropped. */
  readonly capacity?: number;
};

/** Counts in this process: without Redis, and while Redis is unavailable. */
export const memoryLoginAttempts = ({
  now = () => performance.now(),
  capacity = 50_000,
}: MemoryOptions = {}): LoginAttempts & { readonly size: () => number } => {
  /** By hashed key, in the order of their last attempts. */
  const throttles = new Map<string, LoginThrottle>();

  const evict = (at: number): void => {
    for (const [key, throttle] of throttles) {
      if (throttles.size < capacity && !isForgotten(throttle, at)) return;
      throttles.delete(key);
    }
  };
  const count = (key: string, client: LoginClient, at: number): void => {
    const next = counted(throttles.get(key) ?? null, client, at);
    throttles.delete(key);
    evict(at);
    throttles.set(key, next);
  };
  const settle = ({ key, client }: Attempt, settled: typeof withdrawn): void => {
    const hashed = hashedKey(key);
    const throttle = throttles.get(hashed);
    if (throttle === undefined) return;
    const left = settled(throttle, client);
    if (left.clients.size === 0) throttles.delete(hashed);
    else throttles.set(hashed, left);
  };

  return {
    async begin({ key, client }: Attempt) {
      const [hashed, at] = [hashedKey(key), now()];
      const wait = waitFor(throttles.get(hashed) ?? null, client, at);
      if (wait === 0) count(hashed, client, at);
      return wait;
    },
    succeed: async (attempt) => settle(attempt, succeeded),
    withdraw: async (attempt) => settle(attempt, withdrawn),
    size: () => throttles.size,
  };
};

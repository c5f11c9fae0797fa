import type { ClientContext, Cluster, Redis, Result } from 'ioredis';
import type { Logger } from 'pino';
import { keyedMutex } from '../../application/login/login.ts';
import type { Attempt, LoginAttempts } from '../../application/ports/login-attempts.ts';
import {
  counted,
  FAILURE_TTL,
  isForgotten,
  type LoginThrottle,
  succeeded,
  waitFor,
  withdrawn,
} from '../../domain/login-throttle.ts';
import { type OutageMessages, withFallback } from '../limits/with-fallback.ts';
import { ODD_REPLY } from '../log/safe-messages.ts';
import { hashedKey } from './login-attempts-in-memory.ts';

/** Redis stores the state of domain/login-throttle.ts as a text, and replaces it only if it has not changed in between. */
const SCRIPTS = {
  /** Returns the stored text, empty if there is none, and the time of Redis in epoch milliseconds. */
  readThrottle: `
    local time = redis.call('time')
    return {redis.call('get', KEYS[1]) or '', time[1] * 1000 + math.floor(time[2] / 1000)}`,
  swapThrottle: `
    if (redis.call('get', KEYS[1]) or '') ~= ARGV[1] then return 0 end
    if ARGV[2] == '' then redis.call('del', KEYS[1]) else redis.call('set', KEYS[1], ARGV[2], 'px', ${FAILURE_TTL}) end
    return 1`,
};

declare module 'ioredis' {
  interface RedisCommander<Context extends ClientContext> {
    readThrottle(key: string): Result<[text: string, now: number], Context>;
    swapThrottle(key: string, former: string, next: string): Result<0 | 1, Context>;
  }
}

/** Returns the next throttle, or `null` to leave it as it is. */
type Change = (throttle: LoginThrottle | null, now: number) => LoginThrottle | null;

/** How often a change is tried while other instances change the same count. */
const TRIES = 100;

/**
 * Counts in Redis, for all instances. Rejects when Redis is unavailable; `sharedLoginAttempts` handles that.
 * @param clock epoch milliseconds; by default the clock of Redis.
 */
export const redisLoginAttempts = (redis: Redis | Cluster, clock?: () => number): LoginAttempts => {
  for (const [name, lua] of Object.entries(SCRIPTS)) redis.defineCommand(name, { lua, numberOfKeys: 1 });
  const oneAtATime = keyedMutex();
  let failures = 0;

  const update = (key: string, change: Change) => {
    const name = `tandem:throttle:{${hashedKey(key)}}`;
    const failuresBefore = failures;
    return oneAtATime(name, async () => {
      // If Redis failed while this call waited, fail at once instead of waiting for another time-out.
      if (failures > failuresBefore) throw new Error('Redis failed meanwhile');
      try {
        await swap(name, change);
      } catch (error) {
        failures += 1;
        throw error;
      }
    });
  };
  const swap = async (name: string, change: Change) => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const [text, serverTime] = await redis.readThrottle(name);
      if (typeof text !== 'string' || !Number.isInteger(serverTime)) throw new Error(ODD_REPLY);
      const now = clock?.() ?? serverTime;
      const next = change(read(text), now);
      if (next === null) return;
      const swapped = await redis.swapThrottle(name, text, isForgotten(next, now) ? '' : write(next));
      if (swapped === 1) return;
      if (swapped !== 0) throw new Error(ODD_REPLY);
    }
    throw new Error('the count of log-ins changes too often');
  };
  const settle = ({ key, client }: Attempt, settled: typeof withdrawn) =>
    update(key, (throttle) => throttle && settled(throttle, client));

  return {
    async begin({ key, client }) {
      let wait = 0;
      await update(key, (throttle, now) => {
        wait = waitFor(throttle, client, now);
        return wait === 0 ? counted(throttle, client, now) : null;
      });
      return wait;
    },
    succeed: (attempt) => settle(attempt, succeeded),
    withdraw: (attempt) => settle(attempt, withdrawn),
  };
};

const write = ({ lastAt, clients, slots }: LoginThrottle): string => JSON.stringify([lastAt, [...clients], [...slots]]);

/** The text is trusted: only this adapter writes it. */
const read = (text: string): LoginThrottle | null => {
  if (text === '') return null;
  const [lastAt, clients, slots] = JSON.parse(text);
  return { lastAt, clients: new Map(clients), slots: new Map(slots) };
};

type Counts = {
  /** Counts for all instances; may reject. */
  readonly shared: LoginAttempts;
  /** Counts for this instance alone; does not reject. */
  readonly own: LoginAttempts;
};

const MESSAGES: OutageMessages = {
  unavailable: 'Redis is unavailable: each instance counts failed log-ins for itself',
  available: 'Redis is available again: failed log-ins are counted for all instances',
};

/**
 * Counts for all instances, and in this process while the shared store is unavailable. Never rejects.
 * @param onFallback called for each call that the process answers itself.
 */
export const sharedLoginAttempts = (
  { shared, own }: Counts,
  logger: Logger,
  onFallback?: () => void,
): LoginAttempts => {
  const redis = withFallback(logger, MESSAGES, onFallback);
  const call = <Result>(work: (attempts: LoginAttempts) => Promise<Result>): Promise<Result> =>
    redis.call(
      () => work(shared),
      () => work(own),
    );
  return {
    begin: (attempt) => call(({ begin }) => begin(attempt)),
    succeed: (attempt) => call(({ succeed }) => succeed(attempt)),
    withdraw: (attempt) => call(({ withdraw }) => withdraw(attempt)),
  };
};

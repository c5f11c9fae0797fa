import { hash, randomFillSync } from 'node:crypto';
import { encodeTime, monotonicFactory } from 'ulid';
import type { Clock, IdGenerator } from '../../application/ports/clock-and-ids.ts';

export const systemClock: Clock = { now: () => Date.now() };

/** Epoch milliseconds, counted from the start of the process, so that setting the system's clock does not change a duration. */
export const monotonicTime = (): number => performance.timeOrigin + performance.now();

/** A number of at least 0 and below 1. Others may guess it, so it is not for secrets. */
export const random = (): number => Math.random();

/** Random ULIDs. If the clock has not advanced since the last id, the next id is its successor. */
export const ulidGenerator = (clock: Clock): IdGenerator => {
  const ulid = monotonicFactory(pooledRandom());
  return { next: () => ulid(clock.now()) };
};

/** Bytes that one call of `randomFillSync` makes, which is faster than a call for each byte. */
const POOL_SIZE = 4_096;

/** @returns a source of random numbers of at least 0 and below 1, in steps of 1/256 */
const pooledRandom = (): (() => number) => {
  const pool = new Uint8Array(POOL_SIZE);
  let used = POOL_SIZE;
  return () => {
    if (used === POOL_SIZE) {
      randomFillSync(pool);
      used = 0;
    }
    const byte = pool[used] ?? 0;
    pool[used] = 0;
    used += 1;
    return byte / 256;
  };
};

const CROCKFORD_BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A ULID of `time` (epoch milliseconds) with a digest of `text` in place of random numbers: the same arguments give the same id. */
export const derivedUlid = (time: number, text: string): string =>
  encodeTime(time) +
  Array.from(hash('sha256', text, 'buffer').subarray(0, 16), (byte) => CROCKFORD_BASE32[byte % 32]).join('');

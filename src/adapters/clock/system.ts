import { hash, randomFillSync } from 'node:crypto';
import { encodeTime, monotonicFactory } from 'ulid';
import type { Clock, IdGenerator } from '../../application/ports/clock-and-ids.ts';

export const systemClock: Clock = { now: () => Date.now() };

/** Milliseconds by a clock that is never set, for durations and for times that only this process compares. */
export const monotonicTime = (): number => performance.timeOrigin + performance.now();

/** At least 0 and below 1. It is not for secrets, but spreads what many would do at the same moment. */
export const random = (): number => Math.random();

/** Random ULIDs. In the same millisecond, or when the clock was set back, each id is the successor of the last. */
export const ulidGenerator = (clock: Clock): IdGenerator => {
  const ulid = monotonicFactory(pooledRandom());
  return { next: () => ulid(clock.now()) };
};

/** Random bytes are read from the system in blocks, since a system call takes longer than to make an id. */
const POOL_SIZE = 4_096;

/** @returns random numbers of at least 0 and below 1, in steps of 1/256, from the system's cryptographic source. */
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

/** Crockford's Base32. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The ULID of a time, with a digest of a text in place of random numbers. */
export const derivedUlid = (time: number, text: string): string =>
  encodeTime(time) + Array.from(hash('sha256', text, 'buffer').subarray(0, 16), (byte) => ALPHABET[byte % 32]).join('');

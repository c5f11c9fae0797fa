import type { Clock } from '../../application/ports/clock-and-ids.ts';

export const systemClock: Clock = { now: () => Date.now() };

/** Milliseconds by a clock that is never set, for durations and for times that only this process compares. */
export const monotonicTime = (): number => performance.timeOrigin + performance.now();

/** At least 0 and below 1. It is not for secrets, but spreads what many would do at the same moment. */
export const random = (): number => Math.random();

/** Epoch milliseconds → ISO 8601. Remembers the last time: many users were never changed, and a busy process answers often in one millisecond. */
export const isoTime = (): ((time: number) => string) => {
  let [last, text] = [Number.NaN, ''];
  return (time) => {
    if (time !== last) [last, text] = [time, new Date(time).toISOString()];
    return text;
  };
};

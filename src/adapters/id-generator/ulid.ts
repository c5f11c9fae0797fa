import { monotonicFactory } from 'ulid';
import type { Clock } from '../../application/ports/clock.ts';
import type { IdGenerator } from '../../application/ports/id-generator.ts';

/** Random ULIDs. Within a millisecond, or when the clock steps back, each id is the successor of the last. */
export const ulidGenerator = (clock: Clock): IdGenerator => {
  const ulid = monotonicFactory();
  return { next: () => ulid(clock.now()) };
};

import { monotonicFactory } from 'ulid';
import type { Clock } from '../../application/ports/clock.ts';
import type { IdGenerator } from '../../application/ports/id-generator.ts';

/** Random ULIDs. An id of the same or an earlier millisecond than the last one is the last one's successor. */
export const ulidGenerator = (clock: Clock): IdGenerator => {
  const ulid = monotonicFactory();
  return { next: () => ulid(clock.now()) };
};

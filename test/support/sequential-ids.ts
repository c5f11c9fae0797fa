import { incrementBase32 } from 'ulid';
import type { IdGenerator } from '../../src/application/ports/clock-and-ids.ts';

/** Makes ULIDs that count up from a fixed value, so that they are the same in every run. */
export const sequentialIds = (first = '01J00000000000000000000000'): IdGenerator => {
  let last = first;
  return {
    next: () => {
      last = incrementBase32(last);
      return last;
    },
  };
};

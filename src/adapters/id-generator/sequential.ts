import { incrementBase32 } from 'ulid';
import type { IdGenerator } from '../../application/ports/id-generator.ts';

/** ULIDs that count up from one fixed moment: the same ones in every run. */
export const sequentialIds = (): IdGenerator => {
  let last = '01J00000000000000000000000';
  return {
    next: () => {
      last = incrementBase32(last);
      return last;
    },
  };
};

import type { UsedValues } from '../../application/ports/used-values.ts';
import { findRow, insertUnlessTaken, purgeRows, untilDone } from './change.ts';
import type { Records } from './records.ts';
import { keyName, TABLES } from './tables.ts';

export const usedValuesOver = (records: Records): UsedValues => ({
  /** Looks first, since a violation fails a unit. */
  use: (id, expiresAt) =>
    untilDone(async () => {
      if ((await findRow(records, 'usedValues', { id })) !== null) return false;
      const isFirst = await insertUnlessTaken(records, 'usedValues', { id, expiresAt }, keyName(TABLES.usedValues));
      return isFirst || undefined;
    }),
  purge: (now, limit) => purgeRows(records, 'usedValues', { time: 'expiresAt', until: now, limit }),
});

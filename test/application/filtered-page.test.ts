import { expect, it } from 'vitest';
import { filteredPage } from '../../src/application/filtered-page.ts';

it('reads a bounded number of rows for a page, which may have no item, and says where the list goes on', async () => {
  let read = 0;
  const stepsTo = (last: number) => ({
    read: async (after: string | null, limit: number) => {
      const from = Number(after ?? -1) + 1;
      const rows = Array.from({ length: Math.min(limit, last + 1 - from) }, (_, at) => from + at);
      read += rows.length;
      return rows;
    },
    placeOf: String,
    itemOf: (row: number) => (row >= last - 1 ? row : null),
    maxRows: 2_000,
  });
  expect(await filteredPage(stepsTo(3_000), { after: null, limit: 5 })).toEqual({ items: [], next: '1999' });
  expect(read).toBe(2_000);
  expect(await filteredPage(stepsTo(3_000), { after: '1999', limit: 1 })).toEqual({ items: [2_999], next: '2999' });
  expect(await filteredPage(stepsTo(3_000), { after: '2999', limit: 1 })).toEqual({ items: [3_000], next: null });
});

import fc from 'fast-check';
import { describe, it } from 'vitest';
import { memoryStores } from '../support/memory/stores.ts';
import { holds } from '../support/properties/properties.ts';
import { play, programs, type World } from '../support/second-factor/play.ts';
import { sequentialIds } from '../support/sequential-ids.ts';

describe('the sessions of a user with a second factor', () => {
  const hold = (world: () => World, { maxLength, numRuns }: { readonly maxLength: number; readonly numRuns: number }) =>
    holds(
      fc.asyncProperty(programs({ maxLength }), async (steps) => {
        await play(world(), steps);
        return true;
      }),
      { numRuns },
    );

  // Proves: asvs-6.1.3, asvs-6.3.4, asvs-6.4.3, nist-1, nist-11, theft-7
  it('have shown it, in whatever order things happen', async () => {
    await hold(() => ({ storage: memoryStores(), ids: sequentialIds() }), { maxLength: 40, numRuns: 200 });
  });
});

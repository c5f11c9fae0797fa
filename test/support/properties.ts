import fc from 'fast-check';
import { expect } from 'vitest';

/** Another one for every run; `FC_SEED` repeats a run. fast-check itself says which example failed, and its path. */
const SEED = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31);

/** Prints the seed of a property, and holds it against as many examples as `parameters` say. */
export const holds = async <Example>(
  property: fc.IRawProperty<Example, boolean>,
  parameters: fc.Parameters<Example>,
): Promise<void> => {
  process.stdout.write(`FC_SEED=${SEED} ${expect.getState().currentTestName}\n`);
  await fc.assert(property, { seed: SEED, ...parameters });
};

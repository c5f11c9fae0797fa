import { describe, expect, it } from 'vitest';
import { readText } from '../support/checkout/repository.ts';
import { MUTANTS, mutated } from './mutants.ts';

describe('the mutants of the simulation', () => {
  it('are many, and each has a name of its own', () => {
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
    expect(MUTANTS.length).toBeGreaterThanOrEqual(40);
  });

  it.each(MUTANTS)('$name', (mutant) => {
    expect(mutated(mutant)).not.toBe(readText(mutant.file));
  });
});

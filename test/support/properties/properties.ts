import fc from 'fast-check';
import { expect } from 'vitest';

/** A new seed for every run; `FC_SEED` repeats one. fast-check reports the example that failed, and its path. */
const SEED = Number(process.env.FC_SEED ?? Date.now() % 2 ** 31);

const LONGEST_TEXT = 200;
const LONGEST_REPORT = 4_000;

/** A value for an error message: long texts are cut, and bytes are decoded. */
const brief = (value: unknown): string => {
  const shortened = JSON.stringify(value, function (this: Record<string, unknown>, name, each) {
    const given = this[name];
    const text = given instanceof Uint8Array ? Buffer.from(given).toString('latin1') : each;
    return typeof text === 'string' ? cut(text, LONGEST_TEXT) : text;
  });
  return cut(shortened ?? String(value), LONGEST_REPORT);
};

const cut = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length} characters)`;

/** Prints the seed, and checks a property with the number of examples in `parameters`. */
export const holds = async <Example>(
  property: fc.IRawProperty<Example, boolean>,
  parameters: fc.Parameters<Example>,
): Promise<void> => {
  process.stdout.write(`FC_SEED=${SEED} ${expect.getState().currentTestName}\n`);
  const { failed, numRuns, counterexamplePath, counterexample, errorInstance } = await fc.check(property, {
    seed: SEED,
    ...parameters,
  });
  if (!failed) return;
  const why = errorInstance instanceof Error ? (errorInstance.stack ?? errorInstance.message) : String(errorInstance);
  throw new Error(
    [
      `fails after ${numRuns} runs, seed ${SEED}, path ${counterexamplePath}:`,
      cut(why, LONGEST_REPORT),
      `Counterexample: ${brief(counterexample)}`,
    ].join('\n'),
  );
};

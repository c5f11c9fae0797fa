import type * as v from 'valibot';

export const ENVIRONMENTS = ['development', 'production', 'test'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];
type PerEnvironment = Readonly<Record<Environment, string>>;

/** One variable of the environment. */
export type Variable = {
  /** From the text of the variable to its value. */
  readonly schema: v.GenericSchema<string | undefined, unknown>;
  /** Completes "expected …" when the text does not fit. */
  readonly expected: string;
  /** The text that stands in when the variable is unset; one for all environments or one for each. */
  readonly default?: string | PerEnvironment;
  /** What being unset comes to, when no text stands in. */
  readonly unset?: string;
  readonly meaning: string;
};

export const unlessProduction = (other: string, production: string): PerEnvironment => ({
  development: other,
  production,
  test: other,
});

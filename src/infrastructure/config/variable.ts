import type * as v from 'valibot';

export const ENVIRONMENTS = ['development', 'production', 'test'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];
type PerEnvironment = Readonly<Record<Environment, string>>;

/** One variable of the environment. */
export type Variable = {
  /** Parses the text of the variable. */
  readonly schema: v.GenericSchema<string | undefined, unknown>;
  /** Completes the message "expected …" for an invalid text. */
  readonly expected: string;
  /** The text that is used when the variable is unset: for all environments, or for each. */
  readonly default?: string | PerEnvironment;
  /** Describes the effect of an unset variable without a default text. */
  readonly unset?: string;
  readonly meaning: string;
};

export const unlessProduction = (other: string, production: string): PerEnvironment => ({
  development: other,
  production,
  test: other,
});

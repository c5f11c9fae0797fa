import type * as v from 'valibot';

export const ENVIRONMENTS = ['development', 'production', 'test'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];
type PerEnvironment = Readonly<Record<Environment, string>>;

export type Variable = {
  readonly schema: v.GenericSchema<string | undefined, unknown>;
  /** Completes the message "expected …" for an invalid text. */
  readonly expected: string;
  /** The text that is used when the variable is unset: for all environments, or for each. */
  readonly default?: string | PerEnvironment;
  /** Describes the effect of an unset variable without a default text. */
  readonly unset?: string;
  readonly meaning: string;
};

/** The parsed variables of a table; `undefined` for an unset variable without a default. */
export type ValuesOf<Variables extends Record<string, Variable>> = {
  readonly [Name in keyof Variables]: v.InferOutput<Variables[Name]['schema']>;
};

/** A text that is shown when the condition holds. It begins with the name of a variable, and contains no value. */
export type Rule = readonly [applies: boolean, text: string];
export type Env = Readonly<Record<string, string | undefined>>;

export const unlessProduction = (other: string, production: string): PerEnvironment => ({
  development: other,
  production,
  test: other,
});

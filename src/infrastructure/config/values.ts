import * as v from 'valibot';
import { mapVariables, type Texts, VARIABLES, type VariableName } from './variables.ts';

/** The parsed variables; `undefined` for an unset variable without a default. */
export type Values = { readonly [Name in VariableName]: v.InferOutput<(typeof VARIABLES)[Name]['schema']> };

/** The values of the valid variables, and a line for each invalid one. */
export const readValues = (texts: Texts): { readonly values: Partial<Values>; readonly unfit: readonly string[] } => {
  const results = Object.entries(mapVariables((name, { schema }) => v.safeParse(schema, texts[name])));
  const fit = results.filter(([, { success }]) => success).map(([name, { output }]) => [name, output]);
  // `Object.entries` is typed to return any strings.
  const unfit = results
    .filter(([, { success }]) => !success)
    .map(([name]) => `${name}: expected ${VARIABLES[name as VariableName].expected}`);
  // `Object.fromEntries` loses the type of each member.
  return { values: Object.fromEntries(fit) as Partial<Values>, unfit };
};

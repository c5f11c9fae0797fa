import * as v from 'valibot';
import { mapVariables, type Texts, VARIABLES, type VariableName } from './variables.ts';

/** What the texts of the variables come to; `undefined` where a variable without a default is unset. */
export type Values = { readonly [Name in VariableName]: v.InferOutput<(typeof VARIABLES)[Name]['schema']> };

/** The values, where a variable is missing when its text does not fit; and a line for each text that does not. */
export const readValues = (texts: Texts): { readonly values: Partial<Values>; readonly unfit: readonly string[] } => {
  const results = Object.entries(mapVariables((name, { schema }) => v.safeParse(schema, texts[name])));
  const fit = results.filter(([, { success }]) => success).map(([name, { output }]) => [name, output]);
  const unfit = results
    .filter(([, { success }]) => !success)
    .map(([name]) => `${name}: expected ${VARIABLES[name as VariableName].expected}`);
  return { values: Object.fromEntries(fit) as Partial<Values>, unfit };
};

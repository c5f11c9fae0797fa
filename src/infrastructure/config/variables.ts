import * as v from 'valibot';
import { ACCOUNT_VARIABLES, accountErrors, accountWarnings } from './accounts.ts';
import { BRAND_VARIABLES } from './brand.ts';
import { RENDERING_VARIABLES, renderingErrors, renderingWarnings } from './server-rendering.ts';
import { SERVICE_VARIABLES, serviceErrors, serviceWarnings } from './service.ts';
import { databaseWarnings, STORE_VARIABLES, storeErrors, storeWarnings } from './stores.ts';
import { TOKEN_VARIABLES, tokenErrors, tokenWarnings } from './tokens.ts';
import type { Env, Environment, Rule, ValuesOf, Variable } from './variable.ts';

/** Every variable that the service reads. Tests compare `.env.example` and the documentation with it. */
export const VARIABLES = {
  ...SERVICE_VARIABLES,
  ...STORE_VARIABLES,
  ...TOKEN_VARIABLES,
  ...RENDERING_VARIABLES,
  ...ACCOUNT_VARIABLES,
  ...BRAND_VARIABLES,
};

export type VariableName = keyof typeof VARIABLES;
/** The texts of the variables; `undefined` is unset. */
export type Texts = Readonly<Record<VariableName, string | undefined>>;
/** The parsed variables; `undefined` for an unset variable without a default. */
export type Values = ValuesOf<typeof VARIABLES>;

// `Object.keys` is typed to return any strings.
export const VARIABLE_NAMES = Object.keys(VARIABLES) as VariableName[];

/** An object with a value for each variable. */
export const mapVariables = <T>(value: (name: VariableName, variable: Variable) => T): Record<VariableName, T> =>
  // `Object.fromEntries` is typed to return any names.
  Object.fromEntries(VARIABLE_NAMES.map((name) => [name, value(name, VARIABLES[name])])) as Record<VariableName, T>;

export const defaultText = ({ default: text }: Variable, environment: Environment): string | undefined =>
  typeof text === 'object' ? text[environment] : text;

/** The texts of the environment, with defaults for unset and empty variables. */
export const withDefaults = (env: Env): Texts => {
  const environment = env.NODE_ENV === 'production' || env.NODE_ENV === 'test' ? env.NODE_ENV : 'development';
  return mapVariables((name, variable) => env[name] || defaultText(variable, environment));
};

/** The default, as the documentation shows it. */
export const shownDefault = ({ default: text, unset = '' }: Variable): string => {
  if (text === undefined) return unset;
  if (typeof text === 'string') return text;
  const others = (['production', 'test'] as const).filter((environment) => text[environment] !== text.development);
  return `${text.development} (${others.map((environment) => `${environment}: ${text[environment]}`).join(', ')})`;
};

/** The values of the valid variables, and a line for each invalid one. */
export const readValues = (texts: Texts): { readonly values: Partial<Values>; readonly invalid: readonly string[] } => {
  const results = Object.entries(mapVariables((name, { schema }) => v.safeParse(schema, texts[name])));
  const fit = results.filter(([, { success }]) => success).map(([name, { output }]) => [name, output]);
  // `Object.entries` is typed to return any strings.
  const invalid = results
    .filter(([, { success }]) => !success)
    .map(([name]) => `${name}: expected ${VARIABLES[name as VariableName].expected}`);
  // `Object.fromEntries` loses the type of each member.
  return { values: Object.fromEntries(fit) as Partial<Values>, invalid };
};

const applying = (rules: readonly Rule[]): string[] => rules.filter(([applies]) => applies).map(([, text]) => text);

/**
 * The combinations of valid values that the service refuses, a line each (ADR 0020).
 * @param values without the variables that are invalid: their rules are skipped.
 */
export const configErrors = (values: Partial<Values>): string[] =>
  applying([
    ...tokenErrors(values),
    ...renderingErrors(values),
    ...storeErrors(values),
    ...serviceErrors(values),
    ...accountErrors(values),
  ]);

/** The settings that the service accepts with a warning, a line each (ADR 0020). */
export const warningsOf = (values: Values): string[] =>
  applying([
    ...serviceWarnings(values),
    ...tokenWarnings(values),
    ...renderingWarnings(values),
    ...storeWarnings(values),
    ...accountWarnings(values),
  ]);

/** The same about the database, for a service that opens it. */
export const databaseWarningsOf = (values: Values, env: Env): string[] => applying(databaseWarnings(values, env));

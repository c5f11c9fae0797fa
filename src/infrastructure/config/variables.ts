import { ACCOUNT_VARIABLES } from './account-variables.ts';
import { DATABASE_VARIABLES } from './database-variables.ts';
import { JWT_VARIABLES } from './jwt-variables.ts';
import { PASSWORD_VARIABLES } from './password-variables.ts';
import { SERVICE_VARIABLES } from './service-variables.ts';
import type { Environment, Variable } from './variable.ts';

/** Every variable that the service reads. Tests compare `.env.example` and the documentation with it. */
export const VARIABLES = {
  ...SERVICE_VARIABLES,
  ...DATABASE_VARIABLES,
  ...PASSWORD_VARIABLES,
  ...JWT_VARIABLES,
  ...ACCOUNT_VARIABLES,
};

export type VariableName = keyof typeof VARIABLES;
/** The texts of the variables; `undefined` is unset. */
export type Texts = Readonly<Record<VariableName, string | undefined>>;

// `Object.keys` is typed to return any strings.
export const VARIABLE_NAMES = Object.keys(VARIABLES) as VariableName[];

/** An object with a value for each variable. */
export const mapVariables = <T>(value: (name: VariableName, variable: Variable) => T): Record<VariableName, T> =>
  // `Object.fromEntries` is typed to return any names.
  Object.fromEntries(VARIABLE_NAMES.map((name) => [name, value(name, VARIABLES[name])])) as Record<VariableName, T>;

const defaultText = ({ default: text }: Variable, environment: Environment): string | undefined =>
  typeof text === 'object' ? text[environment] : text;

/** The texts of the environment, with defaults for unset and empty variables. */
export const withDefaults = (env: Readonly<Record<string, string | undefined>>): Texts => {
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

import { DATABASE_VARIABLES } from './database-variables.ts';
import { JWT_VARIABLES } from './jwt-variables.ts';
import { PASSWORD_VARIABLES } from './password-variables.ts';
import { SERVICE_VARIABLES } from './service-variables.ts';
import type { Environment, Variable } from './variable.ts';

/** Every variable that the service reads. The parser, `.env.example` and the table of docs/configuration.md follow this one. */
export const VARIABLES = { ...SERVICE_VARIABLES, ...DATABASE_VARIABLES, ...PASSWORD_VARIABLES, ...JWT_VARIABLES };

export type VariableName = keyof typeof VARIABLES;
/** The texts of the variables; `undefined` is unset. */
export type Texts = Readonly<Record<VariableName, string | undefined>>;

export const VARIABLE_NAMES = Object.keys(VARIABLES) as VariableName[];

export const mapVariables = <T>(value: (name: VariableName, variable: Variable) => T): Record<VariableName, T> =>
  Object.fromEntries(VARIABLE_NAMES.map((name) => [name, value(name, VARIABLES[name])])) as Record<VariableName, T>;

const defaultText = ({ default: text }: Variable, environment: Environment): string | undefined =>
  typeof text === 'object' ? text[environment] : text;

/** The environment's own texts, and the default where there is none. The empty text is none. */
export const withDefaults = (env: Readonly<Record<string, string | undefined>>): Texts => {
  const environment = env.NODE_ENV === 'production' || env.NODE_ENV === 'test' ? env.NODE_ENV : 'development';
  return mapVariables((name, variable) => env[name] || defaultText(variable, environment));
};

/** The default as readers are told it. */
export const shownDefault = ({ default: text, unset = '' }: Variable): string => {
  if (text === undefined) return unset;
  if (typeof text === 'string') return text;
  const others = (['production', 'test'] as const).filter((environment) => text[environment] !== text.development);
  return `${text.development} (${others.map((environment) => `${environment}: ${text[environment]}`).join(', ')})`;
};

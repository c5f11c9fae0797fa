import { ACCOUNT_VARIABLES } from './account-variables.ts';
import { ADMIN_VARIABLES } from './admin-variables.ts';
import { FORMER_SYSTEM_VARIABLES } from './former-system-variables.ts';
import type { Environment, Form, Variable } from './forms.ts';
import { SERVICE_VARIABLES } from './service-variables.ts';
import { SESSION_VARIABLES } from './session-variables.ts';

/** Every variable that the service reads. `npm run docs` writes `.env.example` and the table of the documentation from it. */
export const VARIABLES = {
  ...SERVICE_VARIABLES,
  ...SESSION_VARIABLES,
  ...ACCOUNT_VARIABLES,
  ...FORMER_SYSTEM_VARIABLES,
  ...ADMIN_VARIABLES,
};

export type VariableName = keyof typeof VARIABLES;
export type Env = Readonly<Record<string, string | undefined>>;

type ValueOf<Entry> = Entry extends { readonly form: Form<infer T> }
  ? T | (Entry extends { readonly default: unknown } ? never : undefined)
  : never;
/** The parsed variables; `undefined` for an unset variable without a default. */
export type Values = { readonly [Name in VariableName]: ValueOf<(typeof VARIABLES)[Name]> };

// `Object.keys` is typed to return any strings.
export const VARIABLE_NAMES = Object.keys(VARIABLES) as VariableName[];

export const defaultText = ({ default: text }: Variable, environment: Environment): string | undefined =>
  typeof text === 'object' ? text[environment] : text;

/** The default, as the documentation shows it. */
export const shownDefault = ({ default: text, unset }: Variable): string => {
  if (unset !== undefined) return unset;
  if (typeof text !== 'object') return text || 'none';
  const others = (['production', 'test'] as const).filter((environment) => text[environment] !== text.development);
  return `${text.development} (${others.map((environment) => `${environment}: ${text[environment]}`).join(', ')})`;
};

/** The values of the valid variables, and a line for each invalid one. An empty variable counts as unset. */
export const readVariables = (env: Env): { readonly values: Partial<Values>; readonly invalid: readonly string[] } => {
  const environment = env.NODE_ENV === 'production' || env.NODE_ENV === 'test' ? env.NODE_ENV : 'development';
  const values: Record<string, unknown> = {};
  const invalid: string[] = [];
  for (const name of VARIABLE_NAMES) {
    const variable: Variable = VARIABLES[name];
    const text = env[name] || defaultText(variable, environment);
    const value = text === undefined ? undefined : variable.form.parse(text);
    if (text === undefined || value !== undefined) values[name] = value;
    else invalid.push(`${name}: expected ${variable.form.expected}`);
  }
  // The forms of VARIABLES have these values.
  return { values: values as Partial<Values>, invalid };
};

import type { TokenKeys } from '../adapters/crypto/token-keys.ts';
import { accountSettings } from './config/accounts.ts';
import { brandSettings } from './config/brand.ts';
import { markedNames, withoutQuotes } from './config/environment-files.ts';
import { readSecretFiles } from './config/secret-files.ts';
import { renderingSettings } from './config/server-rendering.ts';
import { serviceSettings } from './config/service.ts';
import { storeSettings } from './config/stores.ts';
import { readTokenKeys } from './config/token-keys.ts';
import { tokenSettings } from './config/tokens.ts';
import { unknownVariables } from './config/unknown-variables.ts';
import type { Env } from './config/variable.ts';
import {
  configErrors,
  databaseWarningsOf,
  mapVariables,
  readValues,
  shownDefault,
  VARIABLE_NAMES,
  type Values,
  type VariableName,
  warningsOf,
  withDefaults,
} from './config/variables.ts';

export type Config = Readonly<ReturnType<typeof configOf>>;

/** All problems of the configuration: a line each, with the name of the variable and never its value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['The configuration is invalid.', ...problems].join('\n'));
    this.problems = problems;
  }
}

/** Every variable, its default and its meaning, for `.env.example` and the tables of the documentation. */
export const CONFIG_VARIABLES = Object.values(
  mapVariables((name, variable) => ({ name, default: shownDefault(variable), meaning: variable.meaning })),
);

/**
 * Parses the environment (SPEC; ADR 0020). An empty variable counts as unset.
 * @throws ConfigError
 *
 * @example
 * const config = parseConfig({ ...process.env, PORT: '3001' });
 */
export const parseConfig = (env: Env): Config => {
  const { config, problems } = readConfig(env);
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
};

/** The configuration of an environment, even if the service would not start with it. */
export type ReadConfig = {
  /** If there are problems, this is incomplete: the variables in `invalidNames` have their defaults, and keys may be missing. */
  readonly config: Config;
  /** As in `ConfigError`. */
  readonly problems: readonly string[];
  /** The variables whose values are invalid. */
  readonly invalidNames: ReadonlySet<VariableName>;
};

/** Parses an environment as far as it is valid. Reads the files that `<name>_FILE` names. */
export const readConfig = (given: Env): ReadConfig => {
  const { env, problems: fileProblems } = readSecretFiles(withoutQuotes(given));
  const texts = withDefaults(env);
  const { values: valid, invalid } = readValues(texts);
  const { keys, problems: keyProblems } = readTokenKeys(texts);
  const problems = [
    ...fileProblems,
    ...invalid,
    ...configErrors(valid),
    ...keyProblems.map(([name, problem]) => `${name}: ${problem}`),
    ...markedNames(env),
  ];
  const defaults = readValues(withDefaults({ NODE_ENV: valid.NODE_ENV })).values;
  // All defaults are valid, so no variable is missing.
  const values = { ...defaults, ...valid } as Values;
  return {
    config: configOf(values, keys, env),
    problems,
    invalidNames: new Set(VARIABLE_NAMES.filter((name) => !(name in valid))),
  };
};

const configOf = (values: Values, keys: TokenKeys | null, env: Env) => ({
  ...serviceSettings(values),
  ...storeSettings(values),
  ...accountSettings(values),
  ...tokenSettings(values),
  ...renderingSettings(values),
  ...brandSettings(values),
  /** `null`, never in production: the service generates its own in `dataDir`. */
  keys,
  /** Settings that are allowed, but risky or probably a mistake: one line each. */
  warnings: [...warningsOf(values), ...unknownVariables(env)] as readonly string[],
  /** The same about the database, for a service that opens it. */
  databaseWarnings: databaseWarningsOf(values, env) as readonly string[],
});

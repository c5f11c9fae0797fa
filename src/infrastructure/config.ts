import type { ProviderSettings } from '../adapters/oidc/settings.ts';
import { readProviders } from './config/providers.ts';
import { REFUSALS, type Rules } from './config/refusals.ts';
import { isProduction, settingsOf } from './config/settings.ts';
import * as variables from './config/variables.ts';
import { databaseWarnings, WARNINGS } from './config/warnings.ts';

export type Config = Readonly<ReturnType<typeof settingsOf>> & {
  readonly providers: readonly ProviderSettings[];
  readonly warnings: readonly string[];
  readonly shownSettings: ReturnType<typeof variables.shownSettings>;
  /** Like `warnings`, about the database. They are not logged if `serve` gets a storage that is not made over this database. */
  readonly databaseWarnings: readonly string[];
};

/** Has a line for each problem, with the name of the variable, and no values except paths. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(['The configuration is invalid.', ...problems].join('\n'));
    this.problems = problems;
  }
}

/**
 * Parses the environment (SPEC; ADR 0020). An empty variable counts as unset.
 * @throws ConfigError
 *
 * @example
 * const config = parseConfig({ ...process.env, PORT: '3001' });
 */
export const parseConfig = (env: variables.Env): Config => {
  const { config, problems } = readConfig(env);
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
};

export type ReadConfig = ReturnType<typeof readConfig>;

/** Parses an environment, including the files that `<name>_FILE` names. Problems are returned beside the valid settings, and not thrown. */
export const readConfig = (environment: variables.Env) => {
  const { env, problems } = variables.readEnvironment(environment);
  const { values: valid, invalid } = variables.readVariables(env);
  // All defaults are valid, so every variable with a default has a value.
  const values = { ...variables.readVariables({ NODE_ENV: valid.NODE_ENV }).values, ...valid } as variables.Values;
  const { providers, problems: providerProblems } =
    'OIDC_PROVIDERS' in valid
      ? readProviders(env, values.OIDC_PROVIDERS ?? [], isProduction(values))
      : { providers: [], problems: [] };
  /** In the settings, an invalid variable counts as unset. */
  const config: Config = {
    ...settingsOf(values),
    providers,
    warnings: [...applicableRules(WARNINGS, valid), ...variables.unknownVariableWarnings(env)],
    shownSettings: variables.shownSettings(env),
    databaseWarnings: applicableRules(databaseWarnings(env), valid),
  };
  return {
    config,
    problems: [...problems, ...invalid, ...providerProblems, ...applicableRules(REFUSALS, valid)],
    invalidNames: new Set<variables.VariableName>(variables.VARIABLE_NAMES.filter((name) => !(name in valid))),
  };
};

class InvalidVariable extends Error {}

/** The texts of the rules that apply. A rule that reads an invalid variable does not apply, since that variable is reported anyway. */
const applicableRules = (rules: Rules, valid: Partial<variables.Values>): string[] => {
  const values = new Proxy(valid, {
    get: (all, name) => {
      if (name in all) return Reflect.get(all, name);
      throw new InvalidVariable();
    },
    // The cast: the proxy returns the value of a variable, or throws.
  }) as variables.Values;
  return Object.keys(rules).filter((text) => {
    try {
      return rules[text]?.(values);
    } catch (error) {
      if (error instanceof InvalidVariable) return false;
      throw error;
    }
  });
};

import { ConfigError, parseConfig } from '../../src/infrastructure/config.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** The problems for which a configuration is refused; none if it is accepted. */
export const problemsOf = (env: Env): readonly string[] => {
  try {
    parseConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
};

/** The variable of each problem. */
export const blamed = (env: Env): string[] => problemsOf(env).map((problem) => problem.slice(0, problem.indexOf(':')));

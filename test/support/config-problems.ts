import { ConfigError, parseConfig } from '../../src/infrastructure/config.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** The lines with which a configuration is refused; none when it is accepted. */
export const problemsOf = (env: Env): readonly string[] => {
  try {
    parseConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
};

/** The variable that each of these lines is about. */
export const blamed = (env: Env): string[] => problemsOf(env).map((problem) => problem.slice(0, problem.indexOf(':')));

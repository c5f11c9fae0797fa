import type { Finding, Findings, SetUp } from '../../src/infrastructure/commands/doctor/examine.ts';
import { readConfig } from '../../src/infrastructure/config.ts';

/** The input of the doctor for an environment. DATA_DIR is by default a directory that does not exist. */
export const setUpOf = (env: Readonly<Record<string, string>>, workingDirectory = '/nowhere'): SetUp => ({
  ...readConfig({ DATA_DIR: workingDirectory, ...env }),
  env,
  workingDirectory,
  nodeArguments: [],
});

/** A line for each finding, such as `problem redis.read-only`. */
export const brief = (seen: Findings): string[] =>
  [seen].flat().map(({ id, severity }: Finding) => `${severity} ${id}`);

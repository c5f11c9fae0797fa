import type { Finding, Findings, SetUp } from '../../src/infrastructure/commands/doctor/examine.ts';
import { readConfig } from '../../src/infrastructure/config.ts';

/** What the doctor examines for an environment. Without DATA_DIR, nothing may be looked for there. */
export const setUpOf = (env: Readonly<Record<string, string>>, workingDirectory = '/nowhere'): SetUp => ({
  ...readConfig({ DATA_DIR: workingDirectory, ...env }),
  env,
  workingDirectory,
  nodeArguments: [],
});

/** A line for each finding: `problem redis.read-only`. */
export const brief = (seen: Findings): string[] =>
  [seen].flat().map(({ id, severity }: Finding) => `${severity} ${id}`);

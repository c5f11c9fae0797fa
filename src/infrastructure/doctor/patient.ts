import type { ReadConfig } from '../config.ts';

/** What the doctor examines. */
export type Patient = ReadConfig & {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  readonly nodeArguments: readonly string[];
};

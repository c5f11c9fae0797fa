import { backUp } from '../backup/backup.ts';
import { restore } from '../backup/restore.ts';
import { type Config, parseConfig } from '../config.ts';
import { move } from '../move/move.ts';
import { backupText, moveText, restoreText } from './data-texts.ts';

type Env = Readonly<Record<string, string | undefined>>;
type Options = { readonly file: string; readonly withKeys: boolean; readonly dryRun: boolean };

/** What was done: for programs, and for people. */
type Done = { readonly report: object; readonly text: string };
type Run = (options: Options, env: Env, signal: AbortSignal) => Promise<Done>;

/** The configuration is valid, but not for this command. */
export class UsageError extends Error {}

const embeddedIn = (env: Env): Config => {
  const config = parseConfig(env);
  if (config.database.kind === 'embedded') return config;
  throw new UsageError(
    'DATABASE_URL is set, so the service does not use the embedded database. For PostgreSQL use pg_dump and pg_restore.',
  );
};

export const DATA_COMMANDS = {
  backup: async ({ file, withKeys }, env, signal) => {
    const config = embeddedIn(env);
    const report = await backUp({ dataDir: config.dataDir, file, withKeys, signal });
    return { report, text: backupText(report) };
  },
  restore: async ({ file, withKeys }, env, signal) => {
    const config = embeddedIn(env);
    const report = await restore({ dataDir: config.dataDir, file, withKeys, signal });
    return { report, text: restoreText(report) };
  },
  move: async ({ dryRun }, env, signal) => {
    const config = parseConfig(env);
    if (config.database.kind !== 'postgresql')
      throw new UsageError('DATABASE_URL has to name the PostgreSQL to which everything is moved.');
    const report = await move({ dataDir: config.dataDir, target: config.database, dryRun, signal });
    return { report, text: moveText(report, config) };
  },
} as const satisfies Record<string, Run>;

export type DataCommand = keyof typeof DATA_COMMANDS;
export const isDataCommand = (name: string): name is DataCommand => Object.hasOwn(DATA_COMMANDS, name);

import { manageKeys } from './commands/keys.ts';
import { type Config, parseConfig } from './config.ts';
import { makeFilesPrivate } from './data-dir/private-data.ts';
import { openDatabase } from './database/database.ts';
import { serve } from './serve.ts';

/** Whoever starts the service reads this on the standard error; nothing else does. */
const fail = (error: unknown): never => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
};

/** Until the first signal; a second one ends the process at once. */
const serveUntilSignalled = async (config: Config): Promise<void> => {
  const stop = await serve(config);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      for (const again of ['SIGTERM', 'SIGINT'] as const)
        process.removeAllListeners(again).once(again, () => process.exit(1));
      stop(signal).catch(fail);
    });
  }
};

/** Brings the database's schema up to date and nothing else, for deployments that set MIGRATE_ON_START=false. */
const migrate = async ({ database }: Config): Promise<void> => {
  if (database.kind === 'memory') throw new Error('DATABASE_URL: memory has no schema to migrate');
  await (await openDatabase(database, { migrate: true })).close();
};

makeFilesPrivate();
const { argv, env, stdout } = process;
const COMMANDS = new Map<string, (args: readonly string[]) => unknown>([
  ['serve', () => serveUntilSignalled(parseConfig(env))],
  ['migrate', () => migrate(parseConfig(env))],
  ['keys', async (args) => stdout.write(await manageKeys(args, env))],
]);

const [, , name = 'serve', ...args] = argv;
try {
  const command = COMMANDS.get(name);
  if (command === undefined)
    throw new Error(`There is no command ${name}; there are: ${[...COMMANDS.keys()].join(', ')}.`);
  await command(args);
} catch (error) {
  fail(error);
}

import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { systemReason } from '../../adapters/log/redact-error.ts';
import { CommandError, failureOf, invalidArguments, type Status } from '../command-error.ts';
import type { Overrides } from '../compose/ports.ts';
import type { Env } from '../config/variables.ts';
import { parseConfig } from '../config.ts';
import { releaseMemoryOfStart, turnOffPretenuring } from '../garbage-collection.ts';
import { makeFilesPrivate } from '../private-data.ts';
import { SIGNALS_OF_NPM, stopAtSignals } from '../signals.ts';
import { decodeText } from '../texts.ts';
import { action, type Command, runAction } from './command.ts';
import { processTerminal } from './terminal.ts';
import type { StorageOverrides } from './users/open-accounts.ts';

/** Adds the variables of `.env` that the environment does not have. Unlike `--env-file` of Node.js, it reads UTF-16 and byte order marks. */
const readEnvFile = (env: NodeJS.ProcessEnv): void => {
  if (!existsSync('.env')) return;
  try {
    Object.assign(env, { ...parseEnv(decodeText(readFileSync('.env'))), ...env });
  } catch (error) {
    throw new CommandError('configuration', `.env cannot be read: ${systemReason(error)}`, 2);
  }
};

const exitWithFailure = (error: unknown): never => {
  const { message, status } = failureOf(error);
  processTerminal().warn(`${message}\n`);
  process.exit(status);
};

const SERVE: Command = {
  actions: {
    '': action({
      does: 'runs the service',
      run: async ({ env }) => {
        turnOffPretenuring();
        const config = parseConfig(env);
        // Loaded here, since no other command needs the server.
        const { serve } = await import('../serve.ts');
        const { isWorker } = await import('../workers.ts');
        const stop = await serve(config, { stopsAtSignals: false });
        releaseMemoryOfStart();
        const signalLimit = env.npm_lifecycle_event === undefined ? 1 : SIGNALS_OF_NPM;
        stopAtSignals(stop, isWorker(config) ? Number.POSITIVE_INFINITY : signalLimit, exitWithFailure);
        return { text: '' };
      },
    }),
  },
  notes: 'Other commands: doctor, users, data, templates, webhooks, keys, migrate. Each has --help.',
};

const MIGRATE: Command = {
  actions: {
    '': action({
      does: 'brings the database up to date, for deployments with MIGRATE_ON_START=false',
      run: async ({ env }) => {
        const { migrateSql } = await import('../open-sql.ts');
        await migrateSql(parseConfig(env).database);
        return { text: '' };
      },
    }),
  },
  notes: 'Exit status: 0 done, 1 failed, 2 invalid arguments or configuration.',
};

export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => SERVE,
  migrate: async () => MIGRATE,
  doctor: async () => (await import('./doctor.ts')).doctor,
  users: async () => (await import('./users.ts')).users(),
  data: async () => (await import('./data.ts')).data,
  templates: async () => (await import('./templates.ts')).templates,
  webhooks: async () => (await import('./webhooks.ts')).webhooks,
  keys: async () => (await import('./keys.ts')).keys,
};

/** Runs the command that the first argument names, by default `serve`. @returns the exit status; for `serve` `null` in place of 0 */
const runNamed = async (commandLine: readonly string[], env: NodeJS.ProcessEnv): Promise<Status | null> => {
  const [first = '', ...others] = commandLine;
  const [name, args] = first === '' || first.startsWith('-') ? ['serve', commandLine] : [first, others];
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load === undefined)
    throw invalidArguments(`Unknown command: ${name}. The commands are ${Object.keys(COMMANDS).join(', ')}.`);
  readEnvFile(env);
  const status = await runAction(name === 'serve' ? '' : name, await load(), args, env, processTerminal());
  return name === 'serve' && status === 0 ? null : status;
};

/** Runs a command. Ends the process, which an open connection could keep alive, unless `serve` has succeeded. @param env gets the variables of `.env`, too */
export const runCommand = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
  makeFilesPrivate();
  const status = await runNamed(args, env).catch(exitWithFailure);
  if (status !== null) process.exit(status);
};

/**
 * Runs the command `npx tandem users`, which finds, shows and changes accounts, on the terminal of the process.
 * @param args the arguments of the command, such as `['events', 'ada']`
 * @param env the variables of the service
 * @param overrides replacements for the storage and ports; `close` is called at the end
 * @returns the exit status
 *
 * @example
 * process.exit(await manageUsers(process.argv.slice(2), process.env, { storage, close: () => database.close() }));
 */
export const manageUsers = async (
  args: readonly string[],
  env: Env,
  { close, ...overrides }: Pick<Overrides, 'close'> & StorageOverrides = {},
): Promise<Status> => {
  const { users } = await import('./users.ts');
  try {
    return await runAction('users', users(overrides), args, env, processTerminal());
  } finally {
    await close?.();
  }
};

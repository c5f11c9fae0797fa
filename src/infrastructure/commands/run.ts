import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { systemReason } from '../../adapters/log/redact-error.ts';
import { type Config, parseConfig } from '../config.ts';
import { makeFilesPrivate } from '../data-dir/private-data.ts';
import { decodeText } from '../decode-text.ts';
import { print, printError } from '../printable.ts';
import { releaseMemoryOfStart } from '../release-memory.ts';
import { serve } from '../serve.ts';
import { manageUsers } from './manage-users.ts';

/** Prints the error's message to standard error, and exits. */
const fail = (error: unknown, status = 1): never => {
  printError(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(status);
};

/** The exit status of a command that could not run. Not 1 for the doctor, for which that means a problem was found. */
const failureOf = (name: string): number => (name === 'doctor' ? 2 : 1);

/**
 * Like Node's `--env-file-if-exists`, but silent without the file, and for UTF-16 and byte order marks as well. Variables of the environment take
 * precedence.
 */
const readEnvFile = (env: NodeJS.ProcessEnv): void => {
  if (existsSync('.env')) Object.assign(env, { ...parseEnv(envText()), ...env });
};

const envText = (): string => {
  try {
    return decodeText(readFileSync('.env'));
  } catch (error) {
    throw new Error(`.env cannot be read: ${systemReason(error)}`);
  }
};

/**
 * Calls `stop` at the first signal. The second one ends the process at once. Under npm it is the third, since a Ctrl-C sends one signal
 * from the terminal and one from npm.
 */
const onSignal = (env: NodeJS.ProcessEnv, stop: (signal: NodeJS.Signals) => void): void => {
  const signalsToStop = env.npm_lifecycle_event === undefined ? 1 : 2;
  let count = 0;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      count += 1;
      if (count === 1) stop(signal);
      if (count > signalsToStop) process.exit(1);
    });
  }
};

const serveUntilSignalled = async (config: Config, env: NodeJS.ProcessEnv): Promise<void> => {
  const stop = await serve(config);
  releaseMemoryOfStart();
  onSignal(env, (signal) => void stop(signal).catch((error: unknown) => fail(error)));
};

/** Brings the database up to date and exits, for deployments that set MIGRATE_ON_START=false. */
const migrate = async ({ database }: Config): Promise<void> => {
  const { migrateSql } = await import('../open-sql.ts');
  await migrateSql(database);
};

const printLine = (line: string): void => printError(`${line}\n`);

type Report = { readonly status: number; readonly output: string; readonly errors: string };

/** Ends the process as soon as the report is written: a server that hangs may keep a connection open. */
const report = async ({ status, output, errors }: Report): Promise<void> => {
  printError(errors);
  await print(output);
  process.exit(status);
};

/**
 * Runs a command without arguments; `--help` prints what it does.
 * @throws Error for any other argument.
 */
const alone = (args: readonly string[], does: string, run: () => Promise<void>): Promise<unknown> => {
  const help = `${does} It takes no arguments.`;
  if (args.length === 0) return run();
  if (args.length === 1 && args[0] === '--help') return print(`${help}\n`);
  throw new Error(help);
};

/**
 * Runs the command that the first argument names, by default `serve`. Ends the process when it fails.
 * @param env the environment of the process, to which the variables of `.env` are added.
 */
export const runCommand = async ([name = 'serve', ...args]: readonly string[], env: NodeJS.ProcessEnv) => {
  const commands = new Map<string, () => unknown>([
    ['serve', () => alone(args, 'npx tandem runs the service.', () => serveUntilSignalled(parseConfig(env), env))],
    [
      'migrate',
      () => alone(args, 'npx tandem migrate brings the database up to date.', () => migrate(parseConfig(env))),
    ],
    ['doctor', async () => report(await (await import('./doctor.ts')).runDoctor(args, env))],
    ['users', async () => process.exit(await manageUsers(args, env))],
    ['data', async () => report(await (await import('./data.ts')).runData(args, env, printLine))],
    ['mail', async () => print(await (await import('./mail.ts')).showMail(args, env))],
    ['keys', async () => print(await (await import('./keys.ts')).manageKeys(args, env))],
  ]);
  try {
    makeFilesPrivate();
    readEnvFile(env);
    const known = `The commands are ${[...commands.keys()].join(', ')}. Each has --help.`;
    if (name === '--help') return await print(`${known}\n`);
    const command = commands.get(name);
    if (command === undefined) throw new Error(`Unknown command: ${name}. ${known}`);
    await command();
  } catch (error) {
    fail(error, failureOf(name));
  }
};

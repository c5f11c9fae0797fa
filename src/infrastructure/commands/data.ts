import { parseArgs } from 'node:util';
import { asTyped } from '../as-typed.ts';
import { CommandError, type ErrorStatus, failureText } from '../command-error.ts';
import type { Env } from '../config/variable.ts';
import { type Config, ConfigError, parseConfig } from '../config.ts';
import { backUp, restore } from '../data/backup.ts';
import { move } from '../data/move.ts';

const HELP =
  asTyped(`npm run data -- backup FILE [--without-keys]   copies the embedded database to a new file, also while the service runs
npm run data -- restore FILE [--without-keys]  puts such a copy into a DATA_DIR that has no database
npm run data -- move [--dry-run]               copies all rows of the embedded database to the PostgreSQL of DATABASE_URL

A BACKUP IS SECRET. It has the password hashes and sessions of all users, and the private keys of DATA_DIR/keys, if there are any: with
these, anybody can be any user. Encrypt it. With --without-keys it has no keys; restored without its keys, everybody has to log in again.
Keys in variables (JWT_…_KEY) are never in it, and move leaves those of DATA_DIR where they are.

backup and restore need an empty DATABASE_URL. restore and move need the service to be stopped. move leaves the embedded database as it
is; with --dry-run it only reads.

Standard output is one JSON object: what was done, or { "error": { "code", "message" } }.
Exit status: 0 done, 1 failed, 2 invalid arguments or configuration, 3 refused: something is in the way.
`);

type Options = { readonly file: string; readonly withKeys: boolean; readonly dryRun: boolean };
type Command = (options: Options, config: Config) => Promise<object>;

const COMMANDS: Readonly<Record<string, Command>> = {
  backup: ({ file, withKeys }, config) => backUp({ dataDir: embeddedIn(config), file, withKeys }),
  restore: ({ file, withKeys }, config) => restore({ dataDir: embeddedIn(config), file, withKeys }),
  move: ({ dryRun }, { database, dataDir }) => {
    if (database.kind === 'postgresql') return move({ dataDir, target: database, dryRun });
    throw misfit('DATABASE_URL has to name the PostgreSQL to which everything is moved.');
  },
};

const embeddedIn = ({ database, dataDir }: Config): string => {
  if (database.kind === 'embedded') return dataDir;
  throw misfit(
    'DATABASE_URL is set, so the service does not use the embedded database. For PostgreSQL use pg_dump and pg_restore.',
  );
};

/** The arguments are valid, but do not fit the configuration. */
const misfit = (message: string): CommandError => new CommandError('configuration', message, 2);

type Result = { readonly status: 0 | ErrorStatus; readonly output: string; readonly errors: string };

/** The command `data`. @returns the exit status, and the texts for standard output and standard error. */
export const runData = async (args: readonly string[], env: Env): Promise<Result> => {
  try {
    const options = read(args);
    if (options === null) return { status: 0, output: HELP, errors: '' };
    const report = await options.command(options, parseConfig(env));
    return { status: 0, output: `${JSON.stringify(report, null, 2)}\n`, errors: '' };
  } catch (error) {
    const [status, code, message] = failureOf(error);
    const help = code === 'arguments' ? `\n${HELP}` : '';
    return { status, output: `${JSON.stringify({ error: { code, message } })}\n`, errors: `${message}\n${help}` };
  }
};

const failureOf = (error: unknown): readonly [status: ErrorStatus, code: string, message: string] => {
  if (error instanceof CommandError) return [error.status, error.code, error.message];
  if (error instanceof ConfigError) return [2, 'configuration', error.message];
  if (error instanceof TypeError) return [2, 'arguments', error.message];
  return [1, 'failed', failureText(error)];
};

/** @returns `null` when help is asked for. @throws TypeError, as `parseArgs` does */
const read = (args: readonly string[]): (Options & { readonly command: Command }) | null => {
  const boolean = { type: 'boolean', default: false } as const;
  const options = { help: { ...boolean, short: 'h' }, 'without-keys': boolean, 'dry-run': boolean } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  if (values.help) return null;
  const [name = '', file = '', ...more] = positionals;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) throw new TypeError(`The commands are ${Object.keys(COMMANDS).join(', ')}.`);
  const takesFile = name !== 'move';
  if (more.length > 0 || (file !== '') !== takesFile)
    throw new TypeError(takesFile ? 'One FILE is needed.' : 'move takes no FILE.');
  if (values['dry-run'] && takesFile) throw new TypeError('Only move has --dry-run.');
  if (values['without-keys'] && !takesFile) throw new TypeError('Only backup and restore have --without-keys.');
  return { command, file, withKeys: !values['without-keys'], dryRun: values['dry-run'] };
};

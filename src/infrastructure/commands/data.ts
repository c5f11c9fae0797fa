import { parseArgs } from 'node:util';
import { CommandError, type ErrorStatus, failureText } from '../command-error.ts';
import type { Env } from '../config/variables.ts';
import { type Config, ConfigError, parseConfig } from '../config.ts';
import { backUp } from '../data/backup.ts';
import { MOVE_FROM, move } from '../data/move.ts';
import { restore } from '../data/restore.ts';

const HELP = `npx tandem data backup FILE [--without-keys]   copies the file of SQLite to a new file, also while the service runs
npx tandem data restore FILE [--without-keys]  puts such a copy where there is no database
npx tandem data move [--dry-run]               copies all rows of the database of MOVE_FROM to that of DATABASE_URL

A BACKUP IS SECRET. It has the password hashes and sessions of all users, and the private keys of DATA_DIR/keys, if there are any: with
these, anybody can be any user. Encrypt it. With --without-keys it has no keys; restored without its keys, everybody has to log in again.
Keys in variables (JWT_…_KEY) are never in it, and move leaves those of DATA_DIR where they are.

backup and restore are for a file of SQLite: the one in DATA_DIR, or that of DATABASE_URL. For other databases use their own programs.
MOVE_FROM (or MOVE_FROM_FILE) is a URL as in DATABASE_URL. Without it, the file of SQLite in DATA_DIR is moved. restore and move need the
service to be stopped. move does not change its source, and adds to its target what is missing there: run it again after an interruption.
With --dry-run it only reads.

Standard output is one JSON object: what was done, or { "error": { "code", "message" } }. Lines about the progress of move go to standard
error. Exit status: 0 done, 1 failed, 2 invalid arguments or configuration, 3 refused: something is in the way.
`;

type Options = {
  readonly file: string;
  readonly withKeys: boolean;
  readonly dryRun: boolean;
  readonly onProgress: (line: string) => void;
};
type Command = (options: Options, env: Env) => Promise<object>;

const COMMANDS: Readonly<Record<string, Command>> = {
  backup: ({ file, withKeys }, env) => backUp({ ...sqliteIn(parseConfig(env)), file, withKeys }),
  restore: ({ file, withKeys }, env) => restore({ ...sqliteIn(parseConfig(env)), file, withKeys }),
  move: ({ dryRun, onProgress }, env) =>
    move({ source: sourceIn(env), target: parseConfig(env).database, dryRun, onProgress }),
};

const sqliteIn = ({ database, dataDir }: Config) => {
  if (database.kind === 'sqlite') return { database, dataDir };
  throw misfit(
    'DATABASE_URL is no file of SQLite. For PostgreSQL use pg_dump and pg_restore, for MariaDB and MySQL mariadb-dump or mysqldump.',
  );
};

/** The database of MOVE_FROM, for which the rules of DATABASE_URL hold. @throws ConfigError that names it */
const sourceIn = (env: Env): Config['database'] => {
  const { [MOVE_FROM]: url, [`${MOVE_FROM}_FILE`]: file } = env;
  try {
    return parseConfig({ ...env, DATABASE_URL: url, DATABASE_URL_FILE: file }).database;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.problems.map((problem) => problem.replaceAll('DATABASE_URL', MOVE_FROM)));
  }
};

/** The arguments are valid, but do not fit the configuration. */
const misfit = (message: string): CommandError => new CommandError('configuration', message, 2);

type Result = { readonly status: 0 | ErrorStatus; readonly output: string; readonly errors: string };

/**
 * The command `data`.
 * @param onProgress gets lines for standard error while it runs.
 * @returns the exit status, and the texts for standard output and standard error.
 */
export const runData = async (
  args: readonly string[],
  env: Env,
  onProgress: (line: string) => void = () => undefined,
): Promise<Result> => {
  try {
    const options = read(args);
    if (options === null) return { status: 0, output: HELP, errors: '' };
    const report = await options.command({ ...options, onProgress }, env);
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
const read = (args: readonly string[]): (Omit<Options, 'onProgress'> & { readonly command: Command }) | null => {
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

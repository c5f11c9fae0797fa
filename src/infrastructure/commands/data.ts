import { parseArgs } from 'node:util';
import { ConfigError } from '../config.ts';
import { failureText } from '../failure-text.ts';
import { Refusal } from '../refusal.ts';
import { DATA_COMMANDS, type DataCommand, isDataCommand, UsageError } from './data-commands.ts';

type Env = Readonly<Record<string, string | undefined>>;

const HELP = `npm run data -- backup FILE [--without-keys]   copies the embedded database to a new file, also while the service runs
npm run data -- restore FILE [--without-keys]  puts such a copy into a DATA_DIR that has no database
npm run data -- move [--dry-run]               copies all rows of the embedded database to the PostgreSQL of DATABASE_URL

A BACKUP IS SECRET. It has the password hashes and sessions of all users, and the private keys of DATA_DIR/keys, if there are any: whoever
has these can be any user. Encrypt it. With --without-keys it has no keys; restored without its keys, everybody has to log in again.
Keys in variables (JWT_…_KEY) are never in it.

backup and restore need an empty DATABASE_URL. restore and move need the service to be stopped. move leaves the embedded database as it
is, and compares counts and checksums before it commits; with --dry-run it only reads.

--json  one object on standard output: what was done, or { "error": { "code", "message" } }

Exit status: 0 done, 1 failed, 2 invalid arguments or configuration, 3 refused: something is in the way.
`;

type Result = { readonly status: 0 | 1 | 2 | 3; readonly output: string; readonly errors: string };

/**
 * The command `data`.
 * @param signal stops it, and what was begun is undone.
 * @returns the exit status, and the texts for standard output and standard error.
 */
export const runData = async (args: readonly string[], env: Env, signal: AbortSignal): Promise<Result> => {
  const options = read(args);
  if (options instanceof Error) {
    const { message } = options;
    const output = args.includes('--json') ? errorLine('arguments', message) : '';
    return { status: 2, output, errors: `${message}\n\n${HELP}` };
  }
  if (options.help) return { status: 0, output: HELP, errors: '' };
  try {
    const { report, text } = await DATA_COMMANDS[options.command](options, env, signal);
    return { status: 0, output: options.json ? `${JSON.stringify(report)}\n` : text, errors: '' };
  } catch (error) {
    const [status, code, message] = failureOf(error, signal);
    const output = options.json ? errorLine(code, message) : '';
    return { status, output, errors: `${message}\n` };
  }
};

const errorLine = (code: string, message: string): string => `${JSON.stringify({ error: { code, message } })}\n`;

type Failure = readonly [status: 1 | 2 | 3, code: string, message: string];

const failureOf = (error: unknown, signal: AbortSignal): Failure => {
  if (error instanceof Refusal) return [3, error.code, error.message];
  if (error instanceof ConfigError || error instanceof UsageError) return [2, 'configuration', error.message];
  if (signal.aborted) return [1, 'stopped', 'Stopped. Nothing was changed.'];
  return [1, 'failed', failureText(error)];
};

type Options = {
  readonly help: boolean;
  readonly command: DataCommand;
  readonly json: boolean;
  readonly file: string;
  readonly withKeys: boolean;
  readonly dryRun: boolean;
};

const read = (args: readonly string[]): Options | Error => {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: {
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        'without-keys': { type: 'boolean', default: false },
        'dry-run': { type: 'boolean', default: false },
      },
      allowPositionals: true,
    });
    const [command = '', file = '', ...more] = positionals;
    const options = { help: values.help, json: values.json, file };
    if (values.help) return { ...options, command: 'backup', withKeys: true, dryRun: false };
    if (!isDataCommand(command))
      throw new Error(command === '' ? 'A command is missing.' : `There is no command ${command}.`);
    const takesFile = command !== 'move';
    if (more.length > 0 || (file !== '') !== takesFile)
      throw new Error(takesFile ? 'One FILE is needed.' : 'move takes no FILE.');
    if (values['dry-run'] && takesFile) throw new Error('Only move has --dry-run.');
    if (values['without-keys'] && !takesFile) throw new Error('move copies no keys.');
    return { ...options, command, withKeys: !values['without-keys'], dryRun: values['dry-run'] };
  } catch (error) {
    return error instanceof Error ? error : new Error('The arguments cannot be read.');
  }
};

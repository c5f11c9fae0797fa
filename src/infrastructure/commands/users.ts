import { AppError } from '../../domain/errors/app-error.ts';
import { type Config, ConfigError, parseConfig } from '../config.ts';
import { printable, printableJson } from '../printable.ts';
import { type Ask, act } from './users/act.ts';
import { readArguments, type UserOptions } from './users/arguments.ts';
import { Failure, type Status } from './users/failure.ts';
import type { Answer } from './users/inspect.ts';
import { openAccounts } from './users/open-accounts.ts';

type Env = Readonly<Record<string, string | undefined>>;

const HELP = `npm run users -- find USER          the user with this username, email address or id
npm run users -- show USER          the account, its sessions, its open links and the mail that waits for it
npm run users -- events USER        what happened to the account, the latest first: 50 events, or those of a range
                 [--since TIME] [--until TIME]
npm run users -- disable USER       refuses log-ins and refreshes, and ends all sessions
npm run users -- enable USER        allows log-ins again
npm run users -- end-sessions USER  ends all sessions
npm run users -- reset-link USER    prints a link that sets a new password, to hand over
npm run users -- delete USER        deletes the account with everything that is stored about it
npm run users -- export USER        prints everything that is stored about the user as JSON, without secrets

Works beside the service on PostgreSQL, and on the embedded database while the service is stopped. Times are in UTC.
disable, end-sessions and delete ask before they do what cannot be undone.

--json     one object on standard output, or { "error": { "code", "message" } }; with npm run -s
--dry-run  says what would be changed, and changes nothing
--yes      does not ask

Exit status: 0 done, 1 refused or failed, 2 invalid arguments or configuration, 3 no such user.
`;

type Result = { readonly status: Status; readonly output: string; readonly errors: string };

/** The command `users`. @returns the exit status, and the texts for standard output and standard error. */
export const runUsers = async (args: readonly string[], env: Env, ask: Ask): Promise<Result> => {
  let options: UserOptions | null;
  try {
    options = readArguments(args);
  } catch (error) {
    const message = printable(error instanceof Error ? error.message : 'The arguments cannot be read.');
    const output = args.includes('--json') ? jsonOf({ error: { code: 'arguments', message } }) : '';
    return { status: 2, output, errors: `${message}\n\n${HELP}` };
  }
  if (options === null) return { status: 0, output: HELP, errors: '' };
  const isJson = options.json || options.command === 'export';
  try {
    const { report, text } = await withAccounts(parseConfig(env), options, ask);
    return { status: 0, output: isJson ? jsonOf(report) : text, errors: '' };
  } catch (error) {
    const { status, code, message } = failureOf(error);
    return { status, output: options.json ? jsonOf({ error: { code, message } }) : '', errors: `${message}\n` };
  }
};

const withAccounts = async (config: Config, options: UserOptions, ask: Ask): Promise<Answer> => {
  const accounts = await openAccounts(config);
  try {
    return await act(accounts, options, ask);
  } finally {
    await accounts.close();
  }
};

const failureOf = (error: unknown): Pick<Failure, 'status' | 'code' | 'message'> => {
  if (error instanceof Failure) return error;
  if (error instanceof ConfigError) return { status: 2, code: 'configuration', message: error.message };
  if (error instanceof AppError)
    return { status: 1, code: 'failed', message: [error.message, error.reason].filter(Boolean).join(' ') };
  return { status: 1, code: 'failed', message: error instanceof Error ? error.message : String(error) };
};

const TIME = /^(?:at|\w+At)$/;

/** One line, with times in ISO 8601. A password that was never changed has none. */
const jsonOf = (report: object): string => `${printableJson(JSON.stringify(report, withTimes))}\n`;

const withTimes = (name: string, value: unknown): unknown => {
  if (!TIME.test(name) || typeof value !== 'number') return value;
  return value === 0 ? null : new Date(value).toISOString();
};

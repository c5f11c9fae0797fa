import type { Env } from '../config/variables.ts';
import { parseConfig } from '../config.ts';
import { printable } from '../printable.ts';
import { type Ask, act } from './users/act.ts';
import { failureOf, jsonOf, type Status } from './users/answer.ts';
import { readArguments, type UserOptions } from './users/arguments.ts';
import { openAccounts, type StorageOverrides } from './users/open-accounts.ts';

const HELP = `npx tandem users find USER          the user with this username, email address or id
npx tandem users show USER          the account, its sessions, its factors, its open links and the mail that waits for it
npx tandem users events USER        what happened to the account, the latest first: 50 events, or those of a range
                 [--since TIME] [--until TIME]
npx tandem users disable USER       refuses log-ins and refreshes, and ends all sessions
npx tandem users enable USER        allows log-ins again
npx tandem users end-sessions USER  ends all sessions
npx tandem users remove-factors USER
                                    removes authenticator apps, recovery codes and passkeys: the password alone logs in
npx tandem users set-attributes USER JSON
                                    states a JSON object, such as {"roles":["admin"]}, for access tokens; {} removes it
npx tandem users reset-link USER    prints a link that sets a new password, to hand over
npx tandem users delete USER        deletes the account with everything that is stored about it
npx tandem users export USER        prints everything that is stored about the user as JSON, without secrets

Works beside the service. Times are in UTC.
disable, end-sessions, remove-factors and delete ask before they do what cannot be undone.

--json     one object on standard output, or { "error": { "code", "message" } }
--dry-run  says what would be changed, and changes nothing
--yes      does not ask
--as NAME  who makes the change, for the events and the audit log; without it, the system's user

Exit status: 0 done, 1 refused or failed, 2 invalid arguments or configuration, 3 no such user.
`;

/** The input and output of the command. */
type Terminal = {
  readonly ask: Ask;
  readonly print: (text: string) => Promise<void>;
  /** For standard error. */
  readonly warn: (text: string) => void;
};

/** The command `users`. @param overrides a storage in place of the configured one. @returns the exit status. */
export const runUsers = async (
  args: readonly string[],
  env: Env,
  terminal: Terminal,
  overrides: StorageOverrides = {},
): Promise<Status> => {
  const { print, warn } = terminal;
  let options: UserOptions | null;
  try {
    options = readArguments(args);
  } catch (error) {
    const message = printable(error instanceof Error ? error.message : 'The arguments cannot be read.');
    warn(`${message}\n\n${HELP}`);
    if (args.includes('--json')) await print(errorLine('arguments', message));
    return 2;
  }
  if (options === null) {
    await print(HELP);
    return 0;
  }
  return withAccounts(env, options, terminal, overrides);
};

const withAccounts = async (
  env: Env,
  options: UserOptions,
  { ask, print, warn }: Terminal,
  overrides: StorageOverrides,
): Promise<Status> => {
  try {
    const accounts = await openAccounts(parseConfig(env), overrides);
    try {
      const { json, text } = await act(accounts, options, ask);
      await print(options.json || options.command === 'export' ? json : text);
    } finally {
      await accounts.close();
    }
    return 0;
  } catch (error) {
    const { status, code, message } = failureOf(error);
    warn(`${message}\n`);
    if (options.json) await print(errorLine(code, message));
    return status;
  }
};

const errorLine = (code: string, message: string): string => `${jsonOf({ error: { code, message } })}\n`;

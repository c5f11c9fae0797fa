import type { StorageOverrides } from '../../../src/infrastructure/commands/users/open-accounts.ts';
import { runUsers } from '../../../src/infrastructure/commands/users.ts';
import { spawnService } from './process.ts';

type Env = Readonly<Record<string, string>>;

/** `npm run users -- …` in this process, without a terminal. What it logs is not in `stderr`. */
export const runUsersCommand = async (args: readonly string[], env: Env, overrides: StorageOverrides = {}) => {
  const [printed, warned]: [string[], string[]] = [[], []];
  const print = async (text: string) => void printed.push(text);
  const warn = (text: string) => void warned.push(text);
  const terminal = { ask: null, print, warn };
  const code = await runUsers(args, { LOG_LEVEL: 'silent', ...env }, terminal, overrides);
  return { code, stdout: printed.join('').trimEnd(), stderr: warned.join('').trimEnd() };
};

/** The same in a process of its own, without npm. */
export const spawnUsersCommand = async (args: readonly string[], env: Env) => {
  const { stdout, stderr, outcome } = spawnService(env, [], undefined, ['users', ...args]);
  const { code } = await outcome;
  return { code, stdout: stdout.join('\n'), stderr: stderr.join('\n') };
};

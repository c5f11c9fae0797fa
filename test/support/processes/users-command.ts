import { spawnService } from './process.ts';

/** `npm run users -- …` without npm and without a terminal, in the given environment. */
export const runUsersCommand = async (args: readonly string[], env: Readonly<Record<string, string>>) => {
  const { stdout, stderr, outcome } = spawnService(env, [], undefined, ['users', ...args]);
  const { code } = await outcome;
  return { code, stdout: stdout.join('\n'), stderr: stderr.join('\n') };
};

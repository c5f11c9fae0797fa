import { join } from 'node:path';
import { ROOT } from '../test/support/checkout/repository.ts';
import { install, npmProject } from '../test/support/processes/npm-project.ts';
import { runService } from '../test/support/processes/process.ts';

/** A user of the release before, whom the new one has to know. */
const ADA = { username: 'ada', email: 'ada@example.org', password: 'correct horse of a release' };

/** The program that ends as soon as the client has logged in and asked who it is. */
const WITH_CLIENT = `
import { createAuthClient } from 'tandem-client';
const auth = createAuthClient({ baseUrl: process.argv[1] });
await auth.login({ account: '${ADA.email}', password: '${ADA.password}' });
const response = await auth.fetch(process.argv[1] + '/users/me');
if ((await response.json()).data.username !== '${ADA.username}') throw new Error('the client got another user');
process.exit(0);`;

/**
 * Installs what was packed in an empty directory, and runs it: the service over data of the release before, the client, the commands, and
 * the conformance suite.
 * @param former a checkout of the release before
 * @returns what has worked. @throws Error that says what has not
 */
export const tryOut = async (
  directory: string,
  packages: Readonly<Record<string, string>>,
  former?: string,
): Promise<string> => {
  const project = npmProject(directory);
  await install(project, packages);
  const env = { HOME: directory, DATA_DIR: join(directory, '.data'), NODE_COMPILE_CACHE: '' };
  const start = (cwd: string, program: string) => runService(env, ['sh', '-c', 'cd "$0"; exec "$@"', cwd], program);
  const startNew = () => start(directory, 'node_modules/.bin/tandem');

  const first = await (former ? start(former, 'src/infrastructure/main.js') : startNew());
  const registration = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(ADA) };
  const { status } = await fetch(`${first.url}/auth/register`, registration);
  await first.stop();
  if (status !== 201) throw new Error(`The registration was answered with ${status}.`);

  const service = await startNew();
  try {
    await project.run('node', '--input-type=module', '--eval', WITH_CLIENT, service.url);
    const report = await project.run('node', join(ROOT, 'conformance/main.ts'), service.url);
    if (!(await project.runInstalled('tandem', 'users', 'list', '--contains', ADA.username)).includes(ADA.email))
      throw new Error('`tandem users list` does not list the user.');
    return `The client has logged in a user of ${former ? 'the release before' : 'this release'}, and the command lists them. ${report.trim().split('\n').at(-1)}`;
  } finally {
    await service.stop();
  }
};

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

type Trial = {
  /** Paths of what was packed. */
  readonly archives: readonly string[];
  /** A checkout of the release before. */
  readonly former: string | undefined;
  /** Where nothing is yet. */
  readonly directory: string;
  readonly conformance: string;
  readonly say: (text: string) => void;
};

type Service = { readonly child: ChildProcess; readonly url: string };

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

/** An empty project in which an archive is installed, as a user does. */
const install = (directory: string, archives: readonly string[]): string => {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', '--prefer-offline', ...archives], {
    cwd: directory,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return directory;
};

/** This Node.js before others, and nothing of this checkout but that. */
const environment = (data: string): NodeJS.ProcessEnv => ({
  HOME: process.env.HOME,
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  DATA_DIR: data,
  PORT: '0',
});

/** Starts a service. @throws Error when it ends before it listens */
const start = async (program: string, cwd: string, env: NodeJS.ProcessEnv): Promise<Service> => {
  const child = spawn(process.execPath, [program], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) {
    last = line;
    const { address }: { address?: { port: number } } = JSON.parse(line);
    if (address === undefined) continue;
    child.stdout.resume();
    return { child, url: `http://localhost:${address.port}` };
  }
  throw new Error(`${program} ended before it listened: ${last}`);
};

const stop = async ({ child }: Service): Promise<void> => {
  child.kill('SIGTERM');
  await once(child, 'exit');
};

const register = async (url: string): Promise<void> => {
  const response = await fetch(`${url}/auth/register`, {
    ...{ method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(ADA) },
  });
  if (response.status !== 201) throw new Error(`The registration was answered with ${response.status}.`);
};

/**
 * Installs what was packed in an empty directory, and runs it: the service over data of the release before, the client, the commands, and
 * the conformance suite.
 * @throws Error that says what did not work
 */
export const tryOut = async ({ archives, former, directory, conformance, say }: Trial): Promise<void> => {
  const env = environment(join(directory, 'data'));
  const project = install(join(directory, 'new'), archives);
  const node = (...args: readonly string[]) =>
    execFileSync(process.execPath, args, { cwd: project, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  const tandem = join(project, 'node_modules/.bin/tandem');
  const first = await (former === undefined
    ? start(tandem, project, env)
    : start('src/infrastructure/main.js', former, env));
  await register(first.url);
  await stop(first);

  const service = await start(tandem, project, env);
  try {
    node('--input-type=module', '--eval', WITH_CLIENT, service.url);
    say(former === undefined ? 'The client has logged in.' : 'A user of the release before has logged in.');
    say(node(conformance, service.url).trim().split('\n').at(-1) ?? '');
    if (!node(tandem, 'users', 'list', '--contains', ADA.username).includes(ADA.email))
      throw new Error('`tandem users list` does not list the user.');
    say('`tandem users list` has listed the user.');
  } finally {
    await stop(service);
  }
};

import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, readText } from '../checkout/repository.ts';

/** Matches the variables with which a person reaches a registry, and none that npm and vitest set for this checkout. */
const KEPT_VARIABLES =
  /^(?:HOME|USER|TMPDIR|LANG|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:DIR|FILE)|(?:https?|no)_proxy|npm_config_(?!(?:local_)?prefix$).*)$/i;

/** The environment of a person who has the Node.js of these tests, but not this checkout. */
const outside = (): NodeJS.ProcessEnv => {
  const kept = Object.entries(process.env).filter(([name]) => KEPT_VARIABLES.test(name));
  const path = (process.env.PATH ?? '').split(delimiter).filter((directory) => !directory.startsWith(ROOT));
  return { ...Object.fromEntries(kept), PATH: [dirname(process.execPath), ...path].join(delimiter) };
};

/** The versions in package.json of the dependencies with these names. */
export const versionsOf = (...names: readonly string[]): Readonly<Record<string, string>> => {
  const { dependencies, devDependencies } = JSON.parse(readText('package.json'));
  return Object.fromEntries(names.map((name) => [name, dependencies[name] ?? devDependencies[name]]));
};

export type NpmProject = {
  readonly path: string;
  /** Writes a file of the project. */
  readonly write: (file: string, text: string) => void;
  /** Runs a command. @returns its standard output @throws Error with all its output if it fails */
  readonly run: (command: string, ...args: readonly string[]) => Promise<string>;
  /** Runs a program of an installed package without `npx`, which takes longer than most programs. */
  readonly runInstalled: NpmProject['run'];
};

/** A directory outside of this checkout, in which commands run with the environment of a person. */
export const npmProject = (path: string): NpmProject => {
  const run: NpmProject['run'] = async (command, ...args) => {
    const running = promisify(execFile)(command, args, { cwd: path, env: outside(), maxBuffer: 2 ** 26 });
    const { stdout } = await running.catch(({ stdout, stderr }: { stdout: string; stderr: string }) => {
      throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
    });
    return stdout;
  };
  return {
    path,
    write: (file, text) => {
      mkdirSync(dirname(join(path, file)), { recursive: true });
      writeFileSync(join(path, file), text);
    },
    run,
    runInstalled: (program, ...args) => run(join(path, 'node_modules/.bin', program), ...args),
  };
};

/** Installs packages with `npm install`. Versions are exact or paths of archives. */
export const install = async (
  project: NpmProject,
  dependencies: Readonly<Record<string, string>>,
  devDependencies: Readonly<Record<string, string>> = {},
): Promise<void> => {
  project.write('package.json', JSON.stringify({ private: true, type: 'module', dependencies, devDependencies }));
  await project.run('npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', '--no-update-notifier');
};

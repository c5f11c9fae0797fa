import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { KEY_FILES } from '../../keys/keys.ts';
import type { SecretFacts } from '../checks/secrets.ts';

export type Places = {
  readonly workingDirectory: string;
  readonly dataDir: string;
  /** Arguments of Node, which can name environment files. */
  readonly nodeArguments: readonly string[];
  /** DATABASE_URL, if it is that of a PostgreSQL. */
  readonly databaseUrl: string | null;
};

/** Who can read the files that have secrets. Without those that do not exist. */
export const secretFiles = async (places: Places): Promise<SecretFacts[]> => {
  const envFiles = ['.env', ...envFilesOf(places.nodeArguments)].map((file) => resolve(places.workingDirectory, file));
  const withSecrets = await Promise.all(
    envFiles.map(async (path) => ((await hasSecrets(path)) ? [{ path, holds: 'secrets of the environment' }] : [])),
  );
  const candidates = [
    ...withSecrets.flat(),
    ...Object.values(KEY_FILES).map((file) => ({ path: join(places.dataDir, file), holds: 'a private key' })),
    { path: join(places.dataDir, 'database'), holds: 'password hashes' },
    { path: join(places.dataDir, 'mail'), holds: 'links that reset passwords' },
    ...clientKeyOf(places.databaseUrl).map((path) => ({ path, holds: 'the private key for PostgreSQL' })),
  ];
  const facts = await Promise.all(
    candidates.map(async (candidate) => ({ ...candidate, readers: await readersOf(candidate.path) })),
  );
  return facts.flatMap(({ readers, ...candidate }) => (readers === null ? [] : [{ ...candidate, readers }]));
};

/** `--env-file=FILE`, `--env-file FILE`, and the same with `-if-exists`. */
const envFilesOf = (nodeArguments: readonly string[]): string[] =>
  nodeArguments.flatMap((argument, index) => {
    const [, given] = /^--env-file(?:-if-exists)?(?:=(.*))?$/s.exec(argument) ?? [null, null];
    if (given === null) return [];
    return [given ?? nodeArguments[index + 1] ?? ''];
  });

const SECRET_NAME = /PRIVATE_KEY$|PASSWORD$/;
const URL_WITH_PASSWORD = /^[a-z]+:\/\/[^/]*:[^/]+@/;

/** A file that cannot be read counts, as it may have some. */
const hasSecrets = async (path: string): Promise<boolean> => {
  try {
    const variables = Object.entries(parseEnv(await readFile(path, 'utf8')));
    return variables.some(
      ([name, value = '']) => value !== '' && (SECRET_NAME.test(name) || URL_WITH_PASSWORD.test(value)),
    );
  } catch {
    return true;
  }
};

const clientKeyOf = (url: string | null): string[] => {
  const path = url === null ? null : new URL(url).searchParams.get('sslkey');
  return path === null ? [] : [path];
};

/** Bits of a mode, for files and for directories, whose files can be read by whoever may enter them. */
const EVERYBODY = { file: 0o004, directory: 0o001 };
const GROUP = { file: 0o040, directory: 0o010 };

/** @returns `null` when there is no such file. */
const readersOf = async (path: string): Promise<SecretFacts['readers'] | null> => {
  try {
    const real = await realpath(path);
    const stats = await stat(real);
    // Windows has no such permissions.
    if (process.geteuid === undefined) return 'unknown';
    const way = await Promise.all(ancestorsOf(real).map(async (directory) => (await stat(directory)).mode));
    const kind = stats.isDirectory() ? 'directory' : 'file';
    const everybodyEnters = way.every((mode) => (mode & EVERYBODY.directory) !== 0);
    if (everybodyEnters && (stats.mode & EVERYBODY[kind]) !== 0) return 'everybody';
    const groupEnters = way.every((mode) => (mode & (EVERYBODY.directory | GROUP.directory)) !== 0);
    return groupEnters && (stats.mode & GROUP[kind]) !== 0 ? 'group' : 'nobody';
  } catch (error) {
    const code = error instanceof Error ? Reflect.get(error, 'code') : undefined;
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : 'unknown';
  }
};

const ancestorsOf = (path: string): string[] => {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...ancestorsOf(parent)];
};

import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { decodeText } from '../../decode-text.ts';
import { ALL_KEY_FILES } from '../../keys/keys.ts';
import { type Finding, type Findings, note, ok, problem, type SetUp } from './finding.ts';

export const secretFiles = async (setUp: SetUp): Promise<Findings> => {
  const candidates = [...(await envFilesOf(setUp)), ...inDataDir(setUp.config.dataDir), ...clientKeyOf(setUp.config)];
  const findings = (await Promise.all(candidates.map(findingOf))).flat();
  return findings.length > 0
    ? findings
    : ok('secrets.none', 'No file with secrets is where the service looks for one.');
};

/** A path, and the object of the sentence "It has …". */
type Candidate = readonly [path: string, holds: string];

const inDataDir = (dataDir: string): Candidate[] => [
  ...ALL_KEY_FILES.map((file): Candidate => [join(dataDir, file), 'a secret key']),
  [join(dataDir, 'database'), 'password hashes'],
  [join(dataDir, 'mail'), 'links that reset passwords'],
];

const clientKeyOf = ({ database }: SetUp['config']): Candidate[] => {
  const path = database.kind === 'postgresql' ? new URL(database.url).searchParams.get('sslkey') : null;
  return path === null ? [] : [[path, 'the private key for PostgreSQL']];
};

/** `.env`, and the files of `--env-file=FILE`, `--env-file FILE`, and the same with `-if-exists`. */
const envFilesOf = async ({ workingDirectory, nodeArguments }: SetUp): Promise<Candidate[]> => {
  const named = nodeArguments.flatMap((argument, index) => {
    const [, given] = /^--env-file(?:-if-exists)?(?:=(.*))?$/s.exec(argument) ?? [null, null];
    return given === null ? [] : [given ?? nodeArguments[index + 1] ?? ''];
  });
  const paths = ['.env', ...named].map((file) => resolve(workingDirectory, file));
  const withSecrets = await Promise.all(paths.map(hasSecrets));
  return paths.filter((_path, index) => withSecrets[index]).map((path) => [path, 'secrets of the environment']);
};

const SECRET_NAME = /PRIVATE_KEY$|^FACTOR_KEYS$|PASSWORD$/;
const URL_WITH_PASSWORD = /^[a-z]+:\/\/[^/]*:[^/]+@/;

/** A file that cannot be read counts as one with secrets. */
const hasSecrets = async (path: string): Promise<boolean> => {
  try {
    const variables = Object.entries(parseEnv(decodeText(await readFile(path))));
    return variables.some(
      ([name, value = '']) => value !== '' && (SECRET_NAME.test(name) || URL_WITH_PASSWORD.test(value)),
    );
  } catch {
    return true;
  }
};

/** @returns nothing when there is no such file. */
const findingOf = async ([path, holds]: Candidate): Promise<Finding[]> => {
  const readers = await readersOf(path);
  if (readers === null) return [];
  if (readers === 'nobody') return [ok('secrets.private', `Only its owner can read ${path}.`)];
  const advice = `Run \`chmod go-rwx ${path}\` as its owner.`;
  if (readers === 'everybody') {
    const seen = `Every user of this machine can read ${path}, which has ${holds}.`;
    return [problem('secrets.everybody', seen, `${advice} Replace what may have been read.`)];
  }
  if (readers === 'group') {
    const seen = `The group of ${path}, which has ${holds}, can read it.`;
    return [note('secrets.group', seen, `${advice} Leave it if only the service is in that group.`)];
  }
  const asOwner = 'Run the doctor as the user that runs the service; on Windows, check its permissions.';
  return [note('secrets.unseen', `Who can read ${path} is not known here.`, asOwner)];
};

/** The bits of a mode that allow reading a file, or entering a directory. */
const EVERYBODY = { file: 0o004, directory: 0o001 };
const GROUP = { file: 0o040, directory: 0o010 };

/** Who besides the owner can read a file: `unknown` if this user may not find out, `null` if there is no such file. */
const readersOf = async (path: string): Promise<'nobody' | 'group' | 'everybody' | 'unknown' | null> => {
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

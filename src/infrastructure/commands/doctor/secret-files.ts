import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { decodeText } from '../../decode-text.ts';
import { ALL_KEY_FILES } from '../../keys.ts';
import { type Finding, type Findings, note, ok, problem, type SetUp } from './examine.ts';

/** A path, and the object of the sentence "It has …". */
type Candidate = readonly [path: string, holds: string];

/** Who can read `.env`, files of `--env-file`, those in DATA_DIR, and the client key of PostgreSQL. */
export const secretFiles = async (setUp: SetUp): Promise<Findings> => {
  const { database, dataDir } = setUp.config;
  const clientKey = database.kind === 'postgresql' ? new URL(database.url).searchParams.get('sslkey') : null;
  const candidates: Candidate[] = [
    ...(await envFilesOf(setUp)),
    ...ALL_KEY_FILES.map((file): Candidate => [join(dataDir, file), 'a secret key']),
    [join(dataDir, 'database'), 'password hashes'],
    [join(dataDir, 'mail'), 'links that reset passwords'],
    ...(clientKey === null ? [] : [[clientKey, 'the private key for PostgreSQL'] as const]),
  ];
  const findings = (await Promise.all(candidates.map(findingOf))).filter((found) => found !== null);
  return findings.length > 0
    ? findings
    : ok('secrets.none', 'No file with secrets is where the service looks for one.');
};

/** `.env`, and the files of `--env-file=FILE`, `--env-file FILE`, and the same with `-if-exists`, if they have secrets. */
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

const findingOf = async ([path, holds]: Candidate): Promise<Finding | null> => {
  const advice = `Run \`chmod go-rwx ${path}\` as its owner.`;
  switch (await readersOf(path)) {
    case 'owner':
      return ok('secrets.private', `Only its owner can read ${path}.`);
    case 'group':
      return note(
        'secrets.group',
        `The group of ${path}, which has ${holds}, can read it.`,
        `${advice} Leave it if only the service is in that group.`,
      );
    case 'everybody':
      return problem(
        'secrets.everybody',
        `Every user of this machine can read ${path}, which has ${holds}.`,
        `${advice} Replace what may have been read.`,
      );
    case 'unknown':
      return note(
        'secrets.unseen',
        `Who can read ${path} is not known here.`,
        'Run the doctor as the user that runs the service; on Windows, check its permissions.',
      );
    default:
      return null;
  }
};

/** The bits of a mode that allow everybody, or the group, to read a file or to enter a directory. */
const READ = { everybody: 0o004, group: 0o040 };
const ENTER = { everybody: 0o001, group: 0o010 };

/** Who can read a file: `unknown` if this user may not find out, `null` if there is no such file. */
const readersOf = async (path: string): Promise<'owner' | 'group' | 'everybody' | 'unknown' | null> => {
  try {
    const real = await realpath(path);
    const stats = await stat(real);
    // Windows has no such permissions.
    if (process.geteuid === undefined) return 'unknown';
    const way = await Promise.all(ancestorsOf(real).map(async (directory) => (await stat(directory)).mode));
    const needed = stats.isDirectory() ? ENTER : READ;
    if ((stats.mode & needed.everybody) !== 0 && way.every((mode) => (mode & ENTER.everybody) !== 0))
      return 'everybody';
    const groupEnters = way.every((mode) => (mode & (ENTER.everybody | ENTER.group)) !== 0);
    return groupEnters && (stats.mode & needed.group) !== 0 ? 'group' : 'owner';
  } catch (error) {
    const code = error instanceof Error ? Reflect.get(error, 'code') : undefined;
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : 'unknown';
  }
};

const ancestorsOf = (path: string): string[] => {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...ancestorsOf(parent)];
};

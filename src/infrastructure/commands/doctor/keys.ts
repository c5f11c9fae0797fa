import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { type KeyPair, kidsOf } from '../../../adapters/crypto/token-keys.ts';
import { shareKey } from '../../config/keys.ts';
import { ALL_KEY_FILES, KEY_FILES, type KeyFile, readIfAny } from '../../keys.ts';
import { decodeText } from '../../texts.ts';
import { type Finding, type Findings, note, ok, problem, type SetUp } from './examine.ts';

/** Examines the keys of tokens and of authenticator apps in the environment, or outside production in DATA_DIR, without creating any. */
export const keys = async ({ config, problems }: SetUp): Promise<Findings> => {
  if (problems.some((text) => /^JWT_(?:ACCESS|REFRESH)_(?:PRIVATE|PUBLIC)_KEY: |^FACTOR_KEYS: /.test(text)))
    return note('keys.skipped', 'Not examined: a key variable is invalid.', 'See the group Configuration.');
  const { keys: pairs, dataDir } = config;
  const pairFindings =
    pairs === null
      ? await dataDirFindings(dataDir)
      : await Promise.all([pairFinding('access', pairs.access), pairFinding('refresh', pairs.refresh)]);
  return [...pairFindings, await factorKeysFinding(config)];
};

const factorKeysFinding = ({ factorKeys, nodeEnv, dataDir }: SetUp['config']): Finding | Promise<Finding> => {
  const id = 'keys.factors';
  const encryptedWith = (key: string) => ok(id, `The secrets of authenticator apps are encrypted with ${key}.`);
  if (factorKeys !== null) return encryptedWith(`the first key of ${factorKeys.length}`);
  if (nodeEnv !== 'production')
    return keyFileFinding(id, dataDir, KEY_FILES.factors, () =>
      encryptedWith(`the key ${KEY_FILES.factors.file} in DATA_DIR`),
    );
  const advice = 'Set it to have them: `npx tandem keys factors` makes a key.';
  return note(id, 'FACTOR_KEYS is unset: no authenticator apps.', advice);
};

const pairFinding = async (kind: 'access' | 'refresh', pair: KeyPair): Promise<Finding> => {
  const [current, ...others] = await kidsOf(pair);
  const accepted = others.length === 0 ? '' : ` Also accepted: ${others.join(', ')}.`;
  return ok(`keys.${kind}`, `The pair of ${kind} tokens matches. They are signed with the key ${current}.${accepted}`);
};

const dataDirFindings = async (dataDir: string): Promise<Finding[]> => {
  const pairs: KeyPair[] = [];
  const findings = await Promise.all(
    (['access', 'refresh'] as const).map((kind) =>
      keyFileFinding(`keys.${kind}`, dataDir, KEY_FILES[kind], (pair) => {
        pairs.push(pair);
        return pairFinding(kind, pair);
      }),
    ),
  );
  const [one, other] = pairs;
  if (!one || !other || !shareKey(one, other)) return findings;
  const seen = 'Both kinds of tokens have the same key in DATA_DIR: the service does not start.';
  const advice = `Remove ${KEY_FILES.refresh.file}; the next start makes a new one, and everybody has to log in again.`;
  return [...findings, problem('keys.shared', seen, advice)];
};

const keyFileFinding = async <Key>(
  id: string,
  dataDir: string,
  { file, parse, description, advice }: KeyFile<Key>,
  whenFit: (key: Key) => Finding | Promise<Finding>,
): Promise<Finding> => {
  const text = await readIfAny(join(dataDir, file));
  if (text === null)
    return note(id, `There is no ${file} in DATA_DIR yet.`, 'Nothing: outside production, the next start makes it.');
  const key = parse(text);
  if (key !== null) return whenFit(key);
  return problem(id, `${file} in DATA_DIR is not ${description}: the service does not start.`, advice);
};

/** The path of a file or a directory, and the secrets in it, as the end of a clause such as "which has …". */
type Candidate = readonly [path: string, holds: string];

/** Examines who can read these files with secrets: `.env`, files of `--env-file`, those of DATA_DIR, a file of SQLite, and the client key for PostgreSQL. */
export const secretFiles = async (setUp: SetUp): Promise<Findings> => {
  const { database, dataDir } = setUp.config;
  const clientKey = database.kind === 'postgresql' ? new URL(database.url).searchParams.get('sslkey') : null;
  const candidates: Candidate[] = [
    ...(await envFilesOf(setUp)),
    ...ALL_KEY_FILES.map(({ file }): Candidate => [join(dataDir, file), 'a secret key']),
    ...(database.kind === 'sqlite' ? [[database.path, 'password hashes'] as const] : []),
    [join(dataDir, 'mail'), 'links that reset passwords'],
    ...(clientKey === null ? [] : [[clientKey, 'the private key for PostgreSQL'] as const]),
  ];
  const findings = (await Promise.all(candidates.map(fileFinding))).filter((found) => found !== null);
  return findings.length > 0
    ? findings
    : ok('secrets.none', 'No file with secrets is where the service looks for one.');
};

/** The file `.env`, and the files of the options `--env-file` and `--env-file-if-exists` (after `=`, or as the next argument), if they have secrets. */
const envFilesOf = async ({ workingDirectory, nodeArguments }: SetUp): Promise<Candidate[]> => {
  const environmentFiles = nodeArguments.flatMap((argument, index) => {
    const [, file] = /^--env-file(?:-if-exists)?(?:=(.*))?$/s.exec(argument) ?? [null, null];
    return file === null ? [] : [file ?? nodeArguments[index + 1] ?? ''];
  });
  const paths = ['.env', ...environmentFiles].map((file) => resolve(workingDirectory, file));
  const withSecrets = await Promise.all(paths.map(hasSecrets));
  return paths.filter((_path, index) => withSecrets[index]).map((path) => [path, 'secrets of the environment']);
};

const SECRET_NAME = /(?:PRIVATE_KEY|PASSWORD|SECRET)$|^FACTOR_KEYS$/;
const URL_WITH_PASSWORD = /^[a-z]+:\/\/[^/]*:[^/]+@/;

/** Whether an environment file has secrets. A file that cannot be read counts as one that has. */
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

const fileFinding = async ([path, holds]: Candidate): Promise<Finding | null> => {
  const readers = await readersOf(path);
  const advice = `Run \`chmod go-rwx ${path}\` as its owner.`;
  if (readers === null) return null;
  if (readers === 'owner') return ok('secrets.private', `Only its owner can read ${path}.`);
  if (readers === 'unknown')
    return note(
      'secrets.unseen',
      `Who can read ${path} is not known here.`,
      'Run the doctor as the user that runs the service; on Windows, check its permissions.',
    );
  if (readers === 'group')
    return note(
      'secrets.group',
      `The group of ${path}, which has ${holds}, can read it.`,
      `${advice} Leave it if only the service is in that group.`,
    );
  return problem(
    'secrets.everybody',
    `Every user of this machine can read ${path}, which has ${holds}.`,
    `${advice} Replace what may have been read.`,
  );
};

/** Bits of a mode: they allow everybody, or the group, to read a file or to enter a directory. */
const READ_BITS = { everybody: 0o004, group: 0o040 };
const ENTER_BITS = { everybody: 0o001, group: 0o010 };

/** Who can read a path. `unknown`: that cannot be found out. `null`: there is no such file. */
const readersOf = async (path: string): Promise<'owner' | 'group' | 'everybody' | 'unknown' | null> => {
  try {
    const real = await realpath(path);
    const stats = await stat(real);
    // Windows has no modes of files.
    if (process.geteuid === undefined) return 'unknown';
    const directoryModes = await Promise.all(ancestorsOf(real).map(async (directory) => (await stat(directory)).mode));
    const bits = stats.isDirectory() ? ENTER_BITS : READ_BITS;
    if ((stats.mode & bits.everybody) !== 0 && directoryModes.every((mode) => (mode & ENTER_BITS.everybody) !== 0))
      return 'everybody';
    const groupEnters = directoryModes.every((mode) => (mode & (ENTER_BITS.everybody | ENTER_BITS.group)) !== 0);
    return groupEnters && (stats.mode & bits.group) !== 0 ? 'group' : 'owner';
  } catch (error) {
    const code = error instanceof Error ? Reflect.get(error, 'code') : undefined;
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : 'unknown';
  }
};

const ancestorsOf = (path: string): string[] => {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...ancestorsOf(parent)];
};

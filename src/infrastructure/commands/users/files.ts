import { access, constants, type FileHandle, open, realpath, rm, stat } from 'node:fs/promises';
import { monotonicTime } from '../../../adapters/clock/system.ts';
import { factorSecrets } from '../../../adapters/crypto/secrets.ts';
import { systemReason } from '../../../adapters/log/redact-error.ts';
import { openDatabase } from '../../../adapters/mikro-orm/open-database.ts';
import { inBatches } from '../../batches.ts';
import { CommandError, invalidArguments } from '../../command-error.ts';
import type { Config } from '../../config.ts';
import { assertHasDatabase } from '../../data/databases.ts';
import { exportedUsers } from '../../import/export-users.ts';
import { importUsers } from '../../import/import-users.ts';
import { ownLines, type Source } from '../../import/source.ts';
import { openFactorKeys } from '../../keys.ts';
import { printable, printableJson, readTextFile } from '../../texts.ts';
import { type Action, type Answer, action } from '../command.ts';
import { assertConfirmed, type Terminal } from '../terminal.ts';
import type { StorageOverrides, WithAccounts } from './open-accounts.ts';

export const importAction = (runWithAccounts: WithAccounts, { ports = {} }: StorageOverrides): Action =>
  action({
    args: ['FILE…'],
    options: {
      ...{ from: 'SOURCE', passwords: 'FILE', 'hash-config': 'FILE', map: 'FILE' },
      ...{ 'dry-run': true, yes: true },
    },
    does: 'stores the users of another system, a line of JSON each; run it again after an interruption',
    run: async ({ args: files, options, env, terminal }) => {
      const { from, passwords, 'hash-config': configFile, map, 'dry-run': dryRun } = options;
      const source = from === undefined ? ownLines : await sourceNamed(from);
      if (from === undefined && (passwords ?? configFile) !== undefined)
        throw invalidArguments(
          '--passwords and --hash-config belong to an export of another system: --from is missing.',
        );
      const inputs = [...files, passwords, configFile].filter((file) => file !== undefined);
      for (const file of inputs) await assertReadable(file);
      if (map !== undefined) await assertNotRead(map, inputs);
      const hashConfig = configFile === undefined ? undefined : await readTextFile(configFile);
      if (!dryRun && !options.yes) await assertConfirmed(`Import ${printable(files.join(', '))}?`, terminal.ask);
      return runWithAccounts(env, async (accounts, config) => {
        const callerSecrets = accounts.secrets.factors;
        const factorKeys = callerSecrets === undefined ? await openFactorKeys(config) : null;
        const { passwordHasher } = await import('../../../adapters/crypto/password-hasher.ts');
        const hasher = ports.hasher ?? passwordHasher({ cost: config.bcryptCost, maxWait: Number.POSITIVE_INFINITY });
        const deps = { ...accounts, hasher, factorSecrets: callerSecrets ?? (factorKeys && factorSecrets(factorKeys)) };
        // Each run replaces the file of --map, which therefore also gets the users that an earlier run has imported.
        const mapFile = map === undefined || dryRun ? null : await open(map, 'w', 0o600);
        try {
          const batches = importUsers(source({ files, passwords, hashConfig }), { deps, from: from ?? '', dryRun });
          const counts = await report(batches, mapFile, terminal);
          if (counts.withoutPassword > 0)
            terminal.warn(
              `${counts.withoutPassword} of those who are in have no password: the files have no hash of theirs.\n`,
            );
          const text = `${dryRun ? 'Nothing was stored, because of --dry-run: ' : ''}${textOf(counts)}\n`;
          return { text, status: counts.refused > 0 ? 1 : 0 };
        } finally {
          await mapFile?.close();
        }
      });
    },
  });

/** Finds a source by its name. The sources are loaded only here, since they read many formats. @throws CommandError */
const sourceNamed = async (name: string): Promise<Source> => {
  const { SOURCES } = await import('../../import/sources.ts');
  const source = Object.hasOwn(SOURCES, name) ? SOURCES[name] : undefined;
  if (source === undefined) throw invalidArguments(`--from has to be one of ${Object.keys(SOURCES).join(', ')}.`);
  return source;
};

const assertReadable = async (file: string): Promise<void> => {
  await access(file, constants.R_OK).catch((error: unknown) => {
    throw new CommandError('file', `${file} cannot be read: ${systemReason(error)}`, 2);
  });
  if ((await stat(file)).isDirectory()) throw new CommandError('file', `${file} is a directory.`, 2);
};

/** Refuses a file for --map that the command also reads: opening it for writing would empty it. */
const assertNotRead = async (map: string, inputs: readonly string[]): Promise<void> => {
  const existing = await realpath(map).catch(() => null);
  for (const file of inputs)
    if ((await realpath(file)) === existing)
      throw invalidArguments('--map is a file to write, and cannot be one that is read.');
};

const PROGRESS_INTERVAL_MS = 1_000;

/** Prints the remarks about lines, writes ids to the file of --map, and shows the counts at most once a second. @returns the counts */
const report = async (batches: ReturnType<typeof importUsers>, map: FileHandle | null, { print, warn }: Terminal) => {
  const counts = { in: 0, present: 0, refused: 0, leftOut: 0, withoutPassword: 0 };
  let shownAt = monotonicTime();
  for await (const batch of batches) {
    for (const { line, state, hasNoPassword, remarks } of batch) {
      counts[state] += 1;
      if (hasNoPassword === true) counts.withoutPassword += 1;
      for (const remark of remarks) await print(`${printable(`${line.file}:${line.line}: ${remark}`)}\n`);
    }
    await map?.appendFile(batch.map(({ ids }) => (ids ? `${JSON.stringify(ids)}\n` : '')).join(''));
    if (monotonicTime() - shownAt < PROGRESS_INTERVAL_MS) continue;
    shownAt = monotonicTime();
    warn(`${textOf(counts)} …\n`);
  }
  return counts;
};

type Counts = Readonly<Record<'in' | 'present' | 'refused' | 'leftOut', number>>;

const textOf = ({ in: stored, present, refused, leftOut }: Counts): string =>
  `${stored} in, ${present} already in, ${refused} refused, ${leftOut} left out`;

type ExportOptions = {
  readonly config: Config;
  readonly terminal: Terminal;
  /** The path of a new file. If it is absent, the users are printed. */
  readonly out: string | undefined;
  readonly yes: boolean;
};

const BATCH = 100;

/** Writes all users, with password hashes and the secrets of authenticator apps that can be decrypted, in the form that `import` reads. */
export const exportAll = async ({ config, terminal, out, yes }: ExportOptions): Promise<Answer> => {
  if (out === undefined && terminal.isShown && !yes)
    throw new CommandError('not-confirmed', 'This would show the secrets of all users. Give --out FILE, or --yes.', 2);
  const { database } = config;
  if (database.kind === 'sqlite') assertHasDatabase(database.path, 1);
  const keys = await openFactorKeys(config);
  const { records, close } = await openDatabase(database, { migrate: false });
  try {
    const users = exportedUsers(records, keys && factorSecrets(keys));
    const write = (print: Terminal['print']) => writeUsers(users, { ...terminal, print });
    const { count, withoutFactor } = await (out === undefined ? write(terminal.print) : intoNewFile(out, write));
    const text = `${count} users are exported${withoutFactor === 0 ? '' : `, ${withoutFactor} of them without a second factor that they have`}.\n`;
    terminal.warn(text);
    return { text: '', status: withoutFactor > 0 ? 1 : 0 };
  } finally {
    await close();
  }
};

const writeUsers = async (users: ReturnType<typeof exportedUsers>, { print, warn }: Terminal) => {
  let [count, withoutFactor] = [0, 0];
  for await (const batch of inBatches(users, BATCH)) {
    for (const { line } of batch.filter(({ lacksFactor }) => lacksFactor)) {
      withoutFactor += 1;
      warn(`${line.id}: no key of FACTOR_KEYS decrypts an authenticator app, which is left out\n`);
    }
    count += batch.length;
    await print(batch.map(({ line }) => `${printableJson(JSON.stringify(line))}\n`).join(''));
  }
  return { count, withoutFactor };
};

/** Writes a new file that only its owner can read. After a failure, the file is removed. */
const intoNewFile = async <Result>(path: string, write: (print: Terminal['print']) => Promise<Result>) => {
  const file = await open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    throw new CommandError('file-exists', `${path} exists, and is not replaced.`, 1);
  });
  try {
    return await write((text) => file.appendFile(text));
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
};

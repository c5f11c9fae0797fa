import { open, rm } from 'node:fs/promises';
import { factorSecrets } from '../../../adapters/crypto/secrets.ts';
import { openDatabase } from '../../../adapters/mikro-orm/open-database.ts';
import { CommandError } from '../../command-error.ts';
import type { Config } from '../../config.ts';
import { assertHasDatabase } from '../../data/databases.ts';
import { exportedUsers } from '../../import/export-users.ts';
import { openFactorKeys } from '../../keys.ts';
import { printableJson } from '../../printable.ts';
import type { Answer } from '../command.ts';
import type { Terminal } from '../terminal.ts';

type Exporting = {
  readonly config: Config;
  readonly terminal: Terminal;
  /** The new file; without it, they are printed. */
  readonly out: string | undefined;
  /** Whether they may be shown on a terminal. */
  readonly yes: boolean;
};

/** Lines that are written at once. */
const BATCH = 100;

/** Writes all users, with their password hashes and the secrets of their authenticator apps, as `import` reads them. @throws CommandError */
export const exportAll = async ({ config, terminal, out, yes }: Exporting): Promise<Answer> => {
  if (out === undefined && terminal.isShown && !yes)
    throw new CommandError('not-confirmed', 'This would show the secrets of all users. Give --out FILE, or --yes.', 2);
  const { database } = config;
  if (database.kind === 'sqlite') assertHasDatabase(database.path);
  const keys = await openFactorKeys(config);
  const { records, close } = await openDatabase(database, { migrate: false });
  try {
    const users = exportedUsers(records, keys && factorSecrets(keys));
    const write = (print: Terminal['print']) => writeUsers(users, { ...terminal, print });
    const { count, lacking } = await (out === undefined ? write(terminal.print) : intoNewFile(out, write));
    const text = `${count} users are exported${lacking === 0 ? '' : `, ${lacking} of them without a second factor that they have`}.\n`;
    terminal.warn(text);
    return { text: '', status: lacking > 0 ? 1 : 0 };
  } finally {
    await close();
  }
};

const writeUsers = async (users: ReturnType<typeof exportedUsers>, { print, warn }: Terminal) => {
  let [count, lacking, waiting] = [0, 0, ''];
  for await (const { line, lacksFactor } of users) {
    count += 1;
    waiting += `${printableJson(JSON.stringify(line))}\n`;
    if (lacksFactor) {
      lacking += 1;
      warn(`${line.id}: no key of FACTOR_KEYS decrypts an authenticator app, which is left out\n`);
    }
    if (count % BATCH > 0) continue;
    await print(waiting);
    waiting = '';
  }
  await print(waiting);
  return { count, lacking };
};

/** Only its owner can read it. What fails leaves none behind. */
const intoNewFile = async <Result>(
  path: string,
  write: (print: Terminal['print']) => Promise<Result>,
): Promise<Result> => {
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

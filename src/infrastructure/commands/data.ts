import { CommandError, invalidArguments } from '../command-error.ts';
import type { Env } from '../config/variables.ts';
import { type Config, ConfigError, parseConfig } from '../config.ts';
import { backUp, restore } from '../data/backup.ts';
import { makeLeakedFile } from '../data/leaked.ts';
import { MOVE_FROM, move } from '../data/move.ts';
import { type Answer, action, type Command } from './command.ts';

const OTHER_PROGRAMS =
  'DATABASE_URL is no file of SQLite. For PostgreSQL use pg_dump and pg_restore, for MariaDB and MySQL mariadb-dump or mysqldump.';

/** @throws CommandError if DATABASE_URL is not a file of SQLite; ConfigError */
const sqliteIn = (env: Env) => {
  const { database, dataDir } = parseConfig(env);
  if (database.kind !== 'sqlite') throw new CommandError('configuration', OTHER_PROGRAMS, 2);
  return { database, dataDir };
};

/** The database of MOVE_FROM, which is read like DATABASE_URL. @throws ConfigError that names MOVE_FROM in place of DATABASE_URL */
const sourceIn = (env: Env): Config['database'] => {
  const { [MOVE_FROM]: url, [`${MOVE_FROM}_FILE`]: file } = env;
  try {
    return parseConfig({ ...env, DATABASE_URL: url, DATABASE_URL_FILE: file }).database;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.problems.map((problem) => problem.replaceAll('DATABASE_URL', MOVE_FROM)));
  }
};

const answer = (json: object): Answer => ({ text: '', json });

const fileAction = (does: string, copy: typeof backUp | typeof restore) =>
  action({
    ...{ args: ['FILE'], options: { 'without-keys': true }, does },
    run: async ({ args: [file = ''], options, env }) =>
      answer(await copy({ ...sqliteIn(env), file, withKeys: !options['without-keys'] })),
  });

export const data: Command = {
  isJson: true,
  actions: {
    backup: fileAction('copies the file of SQLite to a new file, also while the service runs', backUp),
    restore: fileAction('puts such a copy where there is no database', restore),
    move: action({
      options: { 'dry-run': true },
      does: 'copies all rows of the database of MOVE_FROM to that of DATABASE_URL; with --dry-run it only reads',
      run: async ({ options, env, terminal }) => {
        const [source, target] = [sourceIn(env), parseConfig(env).database];
        const onProgress = (line: string) => terminal.warn(`${line}\n`);
        return answer(await move({ source, target, dryRun: options['dry-run'], onProgress }));
      },
    }),
    leaked: action({
      args: ['LIST', 'FILE'],
      options: { least: 'COUNT' },
      does: 'makes the file of LEAKED_PASSWORDS_FILE, of the passwords that a list has COUNT times (10) or more',
      run: async ({ args: [list = '', file = ''], options: { least = '10' } }) => {
        if (!/^[1-9]\d{0,8}$/.test(least)) throw invalidArguments('--least has to be a whole number above 0.');
        return answer(await makeLeakedFile(list, file, Number(least)));
      },
    }),
  },
  notes: `A BACKUP IS SECRET. It has the password hashes and sessions of all users, and the private keys of DATA_DIR/keys, if there are any: with
these, anybody can be any user. Encrypt it. With --without-keys it has no keys; restored where these keys are not, everybody has to log in again.
Keys in variables (JWT_…_KEY) are never in it, and move leaves those of DATA_DIR where they are.

backup and restore are for a file of SQLite: the one in DATA_DIR, or that of DATABASE_URL. For other databases use their own programs.
MOVE_FROM (or MOVE_FROM_FILE) is a URL as in DATABASE_URL. Without it, the file of SQLite in DATA_DIR is moved. restore and move need the
service to be stopped. move does not change its source, and adds to its target what is missing there: run it again after an interruption.

LIST is one file with lines of SHA-1:COUNT in ascending order, or a directory with a file for each range, as haveibeenpwned.com publishes them.
FILE has six bytes for each password. Ten million take 60 MB, and refuse another password with a chance of 1 in 28 million.

Standard output is one JSON object: what was done, or { "error": { "code", "message" } }. Lines about the progress of move go to standard
error. Exit status: 0 done, 1 failed, 2 invalid arguments or configuration, 3 refused, for instance because something is in the way.`,
};

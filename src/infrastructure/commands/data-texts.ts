import type { BackupReport } from '../backup/backup.ts';
import type { RestoreReport } from '../backup/restore.ts';
import type { Config } from '../config.ts';
import type { MoveReport } from '../move/move.ts';

const lines = (...texts: readonly (string | false)[]): string =>
  texts.map((text) => (text === false ? '' : `${text}\n`)).join('');

/** Right-aligned numbers after names. */
const table = (rows: readonly (readonly [name: string, ...cells: string[]])[]): string => {
  const widths = rows.reduce<number[]>(
    (all, row) => row.map((cell, index) => Math.max(all[index] ?? 0, cell.length)),
    [],
  );
  const cellOf = (cell: string, index: number) =>
    index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0);
  return rows.map((row) => `  ${row.map(cellOf).join('  ')}`.trimEnd()).join('\n');
};

export const backupText = ({ file, bytes, endedAt, live, keys }: BackupReport): string =>
  lines(
    `${file}: ${bytes} bytes, with everything until ${endedAt}.`,
    live ? 'The service ran meanwhile.' : 'No service ran.',
    keys.length > 0
      ? `SECRET: it has password hashes, and the private keys ${keys.join(' and ')}. Whoever has them can be any user. Encrypt it.`
      : 'SECRET: it has password hashes. It has no keys: without them, everybody has to log in again after a restore.',
  );

export const restoreText = ({ dataDir, endedAt, madeBy, rows, keys, pending }: RestoreReport): string =>
  lines(
    `DATA_DIR (${dataDir}) has the database as it was at ${endedAt}, from Tandem ${madeBy}:`,
    table(Object.entries(rows).map(([name, count]) => [name, String(count)])),
    keys.length > 0
      ? `Its keys are ${keys.join(' and ')}.`
      : 'No keys were restored: sessions need the keys that they had.',
    pending.length > 0 && `The next start applies ${pending.length} migrations.`,
    'What happened after the backup is gone: see "The embedded database" in docs/operate.md.',
  );

export const moveText = ({ moved, tables }: MoveReport, { keys }: Config): string =>
  lines(
    moved
      ? 'Moved to the PostgreSQL of DATABASE_URL, and the same there:'
      : 'This would be moved. Nothing was written.',
    table([['table', 'rows', 'checksum'], ...tables.map(({ name, rows, sum }) => [name, String(rows), sum] as const)]),
    keys === null && 'The keys stay in DATA_DIR/keys: the service needs the same DATA_DIR as before.',
    moved &&
      'Start the service with this DATABASE_URL. The embedded database is as it was: remove it when you no longer need it.',
  );

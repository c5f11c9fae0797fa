import { DatabaseSync } from 'node:sqlite';

/** The faults that SQLite finds in a file. It works while other processes use the file. */
export const faultsOf = (path: string): readonly unknown[] => {
  const db = new DatabaseSync(path, { timeout: 60_000 });
  try {
    const rows = db.prepare('pragma integrity_check').all();
    const broken = db.prepare('pragma foreign_key_check').all();
    return [...rows.map(({ integrity_check: said }) => said).filter((said) => said !== 'ok'), ...broken];
  } finally {
    db.close();
  }
};

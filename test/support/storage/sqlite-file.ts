import { DatabaseSync } from 'node:sqlite';

/** What is wrong with a file of SQLite, in the words of SQLite; nothing if it is sound. Other processes may use it meanwhile. */
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

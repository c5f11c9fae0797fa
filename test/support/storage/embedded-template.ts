import { randomUUID } from 'node:crypto';
import { appendFileSync, cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type Database, openDatabase } from '../../../src/infrastructure/database/database.ts';
import '../servers/provided.ts';

/**
 * Fills a data directory with an embedded database. Creating one takes seconds of computing: that is done once a run, and copied.
 * @param migrated whether it has the tables, or is as PGlite creates it, but for the databases that new ones are made from.
 */
export const copyEmbedded = async (dataDir: string, { migrated }: { readonly migrated: boolean }): Promise<void> => {
  const template = join(inject('runDirectory'), migrated ? 'migrated' : 'empty');
  if (!existsSync(template)) await createTemplate(template, migrated);
  cpSync(template, dataDir, { recursive: true });
};

/** Several workers may do this at the same time; the first one that is done wins. */
const createTemplate = async (template: string, migrate: boolean): Promise<void> => {
  const own = `${template}-${randomUUID()}`;
  if (migrate) await copyEmbedded(own, { migrated: false });
  const database = await openDatabase({ kind: 'embedded', dataDir: own }, { migrate });
  if (!migrate) await dropTemplates(database);
  await database.close();
  // Most of the time of an opening, PostgreSQL prepares its buffers: 128 MB by default.
  if (!migrate) appendFileSync(join(own, 'database/postgresql.conf'), 'shared_buffers = 16MB\n');
  try {
    renameSync(own, template);
  } catch (error) {
    rmSync(own, { recursive: true });
    if (!existsSync(template)) throw error;
  }
};

/** Removes the databases that new ones are made from, which nobody makes here. To copy them takes as long as all the rest. */
const dropTemplates = async ({ em }: Database): Promise<void> => {
  await em.execute('update pg_database set datistemplate = false');
  for (const name of ['template0', 'template1']) await em.execute(`drop database ${name}`);
};

import { readdirSync } from 'node:fs';
import { extname, parse } from 'node:path';
import type { Constructor } from '@mikro-orm/core';
import type { Migration } from '@mikro-orm/migrations';

/** Migrations are beside this module, and compiled if it is. The package also has their declarations there. */
const EXTENSION = extname(import.meta.filename);

/**
 * The names of all migrations, oldest first: the files beside this one. Databases store these names, so never rename a released migration.
 */
export const MIGRATION_NAMES: readonly string[] = readdirSync(import.meta.dirname)
  .filter((file) => /^\d{4}-/.test(file) && extname(file) === EXTENSION)
  .map((file) => parse(file).name)
  .sort();

/** Their classes, the one export of each file. A start with nothing to apply does not load them. */
export const loadMigrations = (): Promise<{ name: string; class: Constructor<Migration> }[]> =>
  Promise.all(
    MIGRATION_NAMES.map(async (name) => {
      const [migration] = Object.values<Constructor<Migration>>(
        await import(/* @vite-ignore */ `./${name}${EXTENSION}`),
      );
      if (migration === undefined) throw new Error(`The migration ${name} exports no class.`);
      return { name, class: migration };
    }),
  );

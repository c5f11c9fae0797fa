import { Migrator } from '@mikro-orm/migrations';

/**
 * MikroORM's migrator without its first steps, which use a second connection outside the transaction of the migrations: it would
 * create its table there, and create a database whose name only a pooler knows. The table is created within the transaction.
 */
export class OneConnectionMigrator extends Migrator {
  override async init(): Promise<void> {}
}

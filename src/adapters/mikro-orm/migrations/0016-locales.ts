import { Migration } from '@mikro-orm/migrations';

/** The languages of users: without a default, so that no row is rewritten. Instances of the previous version do not know the column. */
export class Locales extends Migration {
  override up(): void {
    this.addSql('alter table "users" add column "locale" text null');
  }
}

import { Migration } from '@mikro-orm/migrations';

/** What operators have stated about a user, as JSON. */
export class Attributes extends Migration {
  override up(): void {
    this.addSql('alter table "users" add column "attributes" text null');
  }
}

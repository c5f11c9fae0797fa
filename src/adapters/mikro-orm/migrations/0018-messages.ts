import { Migration } from '@mikro-orm/migrations';

/** What messages remember of the time when they were added. Instances of the previous version do not know the columns. */
export class Messages extends Migration {
  override up(): void {
    this.addSql(
      'alter table "outbox" add column "locale" text null, add column "was_verified" boolean not null default false',
    );
  }
}

import { Migration } from '@mikro-orm/migrations';

/** Columns that are empty in every row there is: nothing is rewritten, and the table is locked for a moment only. */
export class DevicesOfSessions extends Migration {
  override up(): void {
    this.addSql('alter table "sessions" add column "user_agent" text null, add column "address" text null');
  }

  override down(): void {
    this.addSql('alter table "sessions" drop column "user_agent", drop column "address"');
  }
}

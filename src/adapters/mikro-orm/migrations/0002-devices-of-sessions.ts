import { Migration } from '@mikro-orm/migrations';

/** Nullable columns without a default: PostgreSQL rewrites no row and locks the table only briefly. */
export class DevicesOfSessions extends Migration {
  override up(): void {
    this.addSql('alter table "sessions" add column "user_agent" text null, add column "address" text null');
  }
}

import { Migration } from '@mikro-orm/migrations';

/**
 * Replaces the index on `expires_at`, which every refresh changed, by one on a column that refreshes leave alone (ADR 0017). The
 * default is constant: no row is rewritten, and instances of the previous version can still insert and rotate sessions. 0 is before
 * any expiry, so the purge looks at such a session and enters the right time.
 */
export class PurgeChecksOfSessions extends Migration {
  override up(): void {
    this.addSql('alter table "sessions" add column "purge_check_at" bigint not null default 0');
    this.addSql('alter table "sessions" set (fillfactor = 85)');
    this.addSql('drop index "sessions_expires_at_index"');
    this.addSql('create index "sessions_purge_check_at_index" on "sessions" ("purge_check_at")');
  }
}

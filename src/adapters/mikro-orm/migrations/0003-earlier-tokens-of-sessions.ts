import { Migration } from '@mikro-orm/migrations';

/** The default is constant: no row is rewritten, and instances of the previous version can still insert rows. */
export class EarlierTokensOfSessions extends Migration {
  override up(): void {
    this.addSql(`alter table "sessions" add column "earlier_tokens" jsonb not null default '[]'`);
  }
}

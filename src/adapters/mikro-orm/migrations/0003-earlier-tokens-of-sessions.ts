import { Migration } from '@mikro-orm/migrations';

/** A constant default: no row is rewritten, and instances of the version before go on beside it. */
export class EarlierTokensOfSessions extends Migration {
  override up(): void {
    this.addSql(`alter table "sessions" add column "earlier_tokens" jsonb not null default '[]'`);
  }

  override down(): void {
    this.addSql('alter table "sessions" drop column "earlier_tokens"');
  }
}

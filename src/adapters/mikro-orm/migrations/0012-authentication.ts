import { Migration } from '@mikro-orm/migrations';

/** Without defaults: no row is rewritten. A session of the previous version was opened with a password. */
export class Authentication extends Migration {
  override up(): void {
    this.addSql('alter table "sessions" add column "authenticated_at" bigint null, add column "amr" text null');
    this.addSql('alter table "users" add column "second_factor_at" bigint null');
  }
}

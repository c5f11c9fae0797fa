import { Migration } from '@mikro-orm/migrations';

/**
 * Time of the last password change in epoch milliseconds; 0 for existing users. The default is constant: no row is rewritten,
 * the table is locked only briefly, and instances of the previous version can still insert rows.
 */
export class PasswordChangedAt extends Migration {
  override up(): void {
    this.addSql('alter table "users" add column "password_changed_at" bigint not null default 0');
  }
}

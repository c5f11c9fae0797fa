import { Migration } from '@mikro-orm/migrations';

/**
 * When the password was changed last, in epoch milliseconds; 0 of everybody there is. A constant default is kept beside the table:
 * nothing is rewritten, the table is locked for a moment only, and an instance of an older version may go on adding rows.
 */
export class PasswordChangedAt extends Migration {
  override up(): void {
    this.addSql('alter table "users" add column "password_changed_at" bigint not null default 0');
  }

  override down(): void {
    this.addSql('alter table "users" drop column "password_changed_at"');
  }
}

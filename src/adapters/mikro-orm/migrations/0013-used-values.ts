import { Migration } from '@mikro-orm/migrations';

/** What may be used once, and was used. */
export class UsedValues extends Migration {
  override up(): void {
    this.addSql(`create table "used_values" (
      "id" text not null constraint "used_values_pkey" primary key,
      "expires_at" bigint not null
    )`);
    this.addSql('create index "used_values_expires_at_index" on "used_values" ("expires_at")');
  }
}

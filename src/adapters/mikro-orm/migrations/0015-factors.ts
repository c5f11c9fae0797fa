import { Migration } from '@mikro-orm/migrations';

/** The authenticator apps and the recovery codes of users. */
export class Factors extends Migration {
  override up(): void {
    this.addSql(`create table "factors" (
      "id" char(26) not null constraint "factors_pkey" primary key,
      "user_id" char(26) not null constraint "factors_user_id_fkey" references "users" ("id") on delete cascade,
      "secret" text not null,
      "last_step" bigint not null,
      "created_at" bigint not null,
      "confirmed_at" bigint null
    )`);
    this.addSql('create index "factors_user_id_index" on "factors" ("user_id")');
    this.addSql(`create table "recovery_codes" (
      "user_id" char(26) not null constraint "recovery_codes_user_id_fkey" references "users" ("id") on delete cascade,
      "hash" text not null,
      constraint "recovery_codes_pkey" primary key ("user_id", "hash")
    )`);
  }
}

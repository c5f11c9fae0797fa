import { Migration } from '@mikro-orm/migrations';

/** One statement per `addSql`, as PGlite requires. Times are epoch milliseconds. */
export class UsersAndSessions extends Migration {
  override up(): void {
    this.addSql(`create table "users" (
      "id" char(26) not null constraint "users_pkey" primary key,
      "username" text not null,
      "username_canonical" text not null constraint "users_username_canonical_key" unique,
      "email" text not null constraint "users_email_key" unique,
      "password_hash" text not null,
      "created_at" bigint not null,
      "updated_at" bigint not null
    )`);
    this.addSql(`create table "sessions" (
      "id" char(26) not null constraint "sessions_pkey" primary key,
      "user_id" char(26) not null constraint "sessions_user_id_fkey" references "users" ("id") on delete cascade,
      "current_token_id" char(26) not null,
      "previous_token_id" char(26) null,
      "rotated_at" bigint not null,
      "created_at" bigint not null,
      "expires_at" bigint not null
    )`);
    this.addSql('create index "sessions_user_id_index" on "sessions" ("user_id")');
    this.addSql('create index "sessions_expires_at_index" on "sessions" ("expires_at")');
  }
}
